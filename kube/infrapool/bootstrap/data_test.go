package bootstrap

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestBootstrapOf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		data   map[string]string
		format string
		why    string
	}{
		"kubeadm": {
			reason: "what the kubeadm provider writes begins with the template line",
			data:   map[string]string{"value": "## template: jinja\n#cloud-config\nrun: []", "format": "cloud-config"}, format: "cloud-config",
		},
		"no format": {
			reason: "secrets that people write have no format: cloud-init is meant",
			data:   map[string]string{"value": "#cloud-config\n"}, format: "cloud-config",
		},
		"script": {reason: "cloud-init runs scripts", data: map[string]string{"value": "#!/bin/sh\n"}, format: "cloud-config"},
		"multipart": {reason: "cloud-init takes archives, whose headers have no case", data: map[string]string{"value": "mime-version: 1.0\n"},
			format: "cloud-config"},
		"blanks": {reason: "cloud-init passes over what is blank in front", data: map[string]string{"value": "\n #cloud-config\n"},
			format: "cloud-config"},
		"gzip": {reason: "cloud-init takes compressed data", data: map[string]string{"value": "\x1f\x8b\x08"}, format: "cloud-config"},
		"windows": {reason: "Windows images have their own headers", data: map[string]string{"value": "<powershell>x</powershell>"},
			format: "cloud-config"},
		"ignition": {
			reason: "Ignition says so by its format",
			data:   map[string]string{"value": `{"ignition":{"version":"3.4.0"}}`, "format": "ignition"}, format: "ignition",
		},
		"no key": {reason: "a secret without the key is named with it", data: map[string]string{"token": "s3cret"},
			why: `bootstrap data secret default/data has no key "value"`},
		"empty": {reason: "empty data boots a machine that never joins", data: map[string]string{"value": ""},
			why: `has nothing under key "value"`},
		"talos": {reason: "an operating system may have something of its own: its machines get it as it is",
			data: map[string]string{"value": "version: v1alpha1\nmachine: {}"}, format: "raw"},
		"bottlerocket": {reason: "the provider says what it is",
			data: map[string]string{"value": "[settings.kubernetes]", "format": "bottlerocket"}, format: "bottlerocket"},
		"comments first": {reason: "they say nothing about it", data: map[string]string{"value": "# Talos\n\n---\nversion: v1alpha1\n"},
			format: "raw"},
		"settings": {reason: "TOML needs no key either", data: map[string]string{"value": "[settings.kubernetes]\napi-server = 1\n"},
			format: "raw"},
		"words": {reason: "what configures nothing was put there by mistake",
			data: map[string]string{"value": "please join the cluster s3cret"}, why: "holds no cloud-init data and no other configuration"},
		"a word": {reason: "likewise", data: map[string]string{"value": "s3cret"}, why: "holds no cloud-init data"},
		"base64": {reason: "what was encoded once too often would be ignored",
			data: map[string]string{"value": "I2Nsb3VkLWNvbmZpZwpzM2NyZXQ="}, why: "holds no cloud-init data"},
		"windows script": {reason: "Windows images have a service of their own", data: map[string]string{"value": "#ps1_sysnative\n"},
			format: "cloud-config"},
		"not cloud-init": {
			reason: "data named cloud-init that is not would be ignored by the machine",
			data:   map[string]string{"value": "s3cret", "format": "cloud-config"}, why: "holds no cloud-init data",
		},
		"ignition without format": {
			reason: "the hint says how to have it taken as Ignition",
			data:   map[string]string{"value": `{"ignition":{"version":"3.4.0"}, "s3cret":1}`}, why: `set key "format" to ignition`,
		},
		"not ignition": {reason: "the machine would fail in its first seconds",
			data: map[string]string{"value": "#cloud-config s3cret", "format": "ignition"}, why: "holds no Ignition configuration"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"}, Data: map[string][]byte{}}
			for k, v := range tc.data {
				secret.Data[k] = []byte(v)
			}
			got, cause := bootstrapOf(secret)
			if tc.why != "" {
				if cause == nil || !strings.Contains(cause.Message, tc.why) || cause.Reason != ReasonInvalid {
					t.Errorf("%s: want a cause with %q, got %+v", tc.reason, tc.why, cause)
				}
				if cause != nil && strings.Contains(cause.Message, "s3cret") {
					t.Errorf("the cause shows the data: %s", cause.Message)
				}
				return
			}
			if cause != nil || got.Format() != tc.format || string(got.Data()) != tc.data["value"] {
				t.Errorf("%s: want format %s and the data, got %v, %+v", tc.reason, tc.format, got, cause)
			}
		})
	}
}

// TestCredentialsAreNoBootstrapData holds that what opens a cluster never becomes user data, which every process on a machine can read.
func TestCredentialsAreNoBootstrapData(t *testing.T) {
	t.Parallel()
	const admin = "apiVersion: v1\nkind: Config\nclusters:\n- name: c1\n  cluster: {server: https://c1}\nusers:\n- name: admin\n  user: " +
		"{token: s3cret}\n"
	for name, tc := range map[string]struct {
		reason, secret, label, data, why string
	}{
		"its cluster's": {reason: "the name says it", secret: "c1-kubeconfig", data: "x: y",
			why: "secret c1-kubeconfig holds an administrator's kubeconfig of Cluster c1"},
		"another cluster's": {reason: "the label says whose it is", secret: "c2-ca", label: "c2", data: "x: y",
			why: "secret c2-ca holds the certificate authority of Cluster c2"},
		"a copy": {reason: "the content says it", secret: "data", data: admin,
			why: `bootstrap data secret default/data holds a kubeconfig under key "value"`},
		"a copy, JSON": {reason: "in any form", secret: "data", data: `{"kind":"Config","users":[{"name":"a","user":{"token":"s3cret"}}]}`,
			why: "holds a kubeconfig"},
		"data": {reason: "what kubeadm's provider writes has the label too", secret: "pool", label: "c1", data: "#cloud-config\n"},
		"a script with one": {reason: "a kubelet's own kubeconfig is written by many a script", secret: "data",
			data: "#!/bin/sh\ncat >/etc/kubernetes/kubelet <<END\n" + admin + "END\n"},
		"talos":        {reason: "another configuration", secret: "data", data: "version: v1alpha1\nmachine: {}\ncluster: {}\n"},
		"bottlerocket": {reason: "not even YAML", secret: "data", data: "[settings.kubernetes]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: tc.secret},
				Data: map[string][]byte{"value": []byte(tc.data)}}
			if tc.label != "" {
				secret.Labels = map[string]string{"cluster.x-k8s.io/cluster-name": tc.label}
			}
			got := ""
			if cause := credentialsIn(secret, "c1"); cause != nil {
				got = cause.Message
			}
			if (tc.why == "") != (got == "") || !strings.HasPrefix(got, tc.why) && !strings.Contains(got, tc.why) ||
				strings.Contains(got, "s3cret") {
				t.Errorf("%s: want %q, got %q", tc.reason, tc.why, got)
			}
		})
	}
}
