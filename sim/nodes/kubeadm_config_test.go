package nodes_test

import (
	"strings"
	"testing"
	"time"

	"github.com/blang/semver/v4"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	kubeadmtypes "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types"

	"github.com/muster-project/muster/sim/nodes/kubeadm"
)

const token = "abcdef.0123456789abcdef"

// TestConfigOfEveryVersion takes what the bootstrap provider writes for a Kubernetes version, and the older shapes by hand.
func TestConfigOfEveryVersion(t *testing.T) {
	t.Parallel()
	source := &bootstrapv1.JoinConfiguration{
		NodeRegistration: bootstrapv1.NodeRegistrationOptions{
			Name: "n", CRISocket: "unix:///cri.sock", Taints: ptr.To([]corev1.Taint{{Key: "k", Value: "v", Effect: corev1.TaintEffectNoSchedule}}),
			KubeletExtraArgs: []bootstrapv1.Arg{{Name: "cloud-provider", Value: ptr.To("external")}, {Name: "node-labels", Value: ptr.To("a=b")}},
		},
		Discovery: bootstrapv1.Discovery{BootstrapToken: bootstrapv1.BootstrapTokenDiscovery{Token: token, APIServerEndpoint: "h:6443",
			CACertHashes: []string{"sha256:ab"}}},
	}
	rendered := func(version string) string {
		s, err := kubeadmtypes.MarshalJoinConfigurationForVersion(source, semver.MustParse(version))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := &kubeadm.Join{
		NodeName: "n", CRISocket: "unix:///cri.sock", Taints: []corev1.Taint{{Key: "k", Value: "v", Effect: corev1.TaintEffectNoSchedule}},
		KubeletArgs: map[string]string{"cloud-provider": "external", "node-labels": "a=b"},
		Endpoint:    "h:6443", Token: token, CAHashes: []string{"sha256:ab"},
		DiscoveryTimeout: 5 * time.Minute, BootstrapTimeout: 5 * time.Minute, APITimeout: time.Minute,
	}
	old := strings.ReplaceAll(rendered("1.25.0"), "v1beta3", "v1beta2")
	for _, c := range []struct{ reason, yaml string }{
		{"Kubernetes 1.22 to 1.30: v1beta3, arguments as a mapping", rendered("1.25.0")},
		{"since 1.31: v1beta4, arguments as a list", rendered("1.33.0")},
		{"before 1.22: v1beta2, written by hand", old},
		{"before 1.15: v1beta1, written by hand", strings.ReplaceAll(old, "v1beta2", "v1beta1")},
		{"as cloud-init writes it, behind a separator", "---\n" + rendered("1.25.0")},
		{"behind a document of another kind", "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n---\n" +
			rendered("1.25.0")},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			got, err := kubeadm.ParseConfig([]byte(c.yaml))
			if err != nil {
				t.Fatalf("%v, of:\n%s", err, c.yaml)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	const head = "kind: JoinConfiguration\ndiscovery:\n  bootstrapToken: {token: " + token +
		", apiServerEndpoint: 'h:1', unsafeSkipCAVerification: true}\n"
	for _, c := range []struct {
		reason, yaml                  string
		discovery, bootstrap, apiCall time.Duration
	}{
		{"kubeadm's own", "apiVersion: kubeadm.k8s.io/v1beta3\n" + head, 5 * time.Minute, 5 * time.Minute, time.Minute},
		{"v1beta3 has one within discovery", "apiVersion: kubeadm.k8s.io/v1beta3\n" + head + "  timeout: 7s\n", 7 * time.Second, 5 * time.Minute,
			time.Minute},
		{"v1beta4 has one for each", "apiVersion: kubeadm.k8s.io/v1beta4\n" + head +
			"timeouts: {discovery: 1s, tlsBootstrap: 2s, kubernetesAPICall: 3s}\n", time.Second, 2 * time.Second, 3 * time.Second},
	} {
		j, err := kubeadm.ParseConfig([]byte(c.yaml))
		if err != nil {
			t.Fatalf("%s: %v", c.reason, err)
		}
		if j.DiscoveryTimeout != c.discovery || j.BootstrapTimeout != c.bootstrap || j.APITimeout != c.apiCall {
			t.Errorf("%s: want %v, %v, %v, got %v, %v, %v", c.reason, c.discovery, c.bootstrap, c.apiCall, j.DiscoveryTimeout, j.BootstrapTimeout,
				j.APITimeout)
		}
	}
}

func TestConfigThatKubeadmRefuses(t *testing.T) {
	t.Parallel()
	const kind = "apiVersion: kubeadm.k8s.io/v1beta3\nkind: JoinConfiguration\n"
	for _, c := range []struct{ reason, yaml, want string }{
		{"no document of the kind", "a: b", "no InitConfiguration or JoinConfiguration kind was found"},
		{"not YAML", "a: [" + token, "it is not YAML"},
		{"a version that is unknown", "apiVersion: kubeadm.k8s.io/v9\nkind: JoinConfiguration\n", `version "kubeadm.k8s.io/v9"`},
		{"a wrong type", kind + "discovery: " + token, "does not have the type"},
		{"no discovery", kind, "bootstrapToken or file must be set"},
		{"both", kind + "discovery: {bootstrapToken: {token: " + token + "}, file: {kubeConfigPath: /f}}", "cannot both be set"},
		{"no endpoint", kind + "discovery: {bootstrapToken: {token: " + token + "}}", "apiServerEndpoint: Required value"},
		{"no token", kind + "discovery: {bootstrapToken: {token: short, apiServerEndpoint: 'h:1', unsafeSkipCAVerification: true}}",
			"is not of the form"},
		{"no pin", kind + "discovery: {bootstrapToken: {token: " + token + ", apiServerEndpoint: 'h:1'}}", "caCertHashes: Required value"},
		{"control plane", kind + "controlPlane: {}\n", "can only be a worker"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			_, err := kubeadm.ParseConfig([]byte(c.yaml))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("want %q, got %v", c.want, err)
			}
			if strings.Contains(err.Error(), "0123456789") {
				t.Errorf("the error shows the token: %v", err)
			}
		})
	}
}

func TestFindCommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, line, verb, config string
	}{
		{"as the bootstrap provider writes it", "kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml  && echo success > /run/x", "join",
			"/run/kubeadm/kubeadm-join-config.yaml"},
		{"with verbosity", "kubeadm join --config /f --v 5 && true", "join", "/f"},
		{"with an equals sign", "kubeadm join --config='/f'", "join", "/f"},
		{"with sudo and a path", "sudo /usr/bin/kubeadm join --config /f", "join", "/f"},
		{"behind another command", "sleep 1; kubeadm join --config /f", "join", "/f"},
		{"another verb", "kubeadm reset -f", "reset", ""},
		{"a word within another", "mykubeadm join", "", ""},
		{"no call", "echo kubeadm", "", ""},
	} {
		got := kubeadm.FindCommand(c.line)
		if got == nil {
			got = &kubeadm.Command{}
		}
		if got.Verb != c.verb || got.Config != c.config {
			t.Errorf("%s: %q: want verb %q with config %q, got %q with %q", c.reason, c.line, c.verb, c.config, got.Verb, got.Config)
		}
	}
}

func TestJoinByFlags(t *testing.T) {
	t.Parallel()
	none := func(string) ([]byte, bool) { return nil, false }
	line := "kubeadm join h:6443 --token " + token +
		` --discovery-token-ca-cert-hash "sha256:ab" --discovery-token-ca-cert-hash sha256:cd --node-name n --v=5`
	got, err := kubeadm.FindCommand(line).Join(none)
	if err != nil {
		t.Fatal(err)
	}
	want := &kubeadm.Join{NodeName: "n", Endpoint: "h:6443", Token: token, TLSToken: token, CAHashes: []string{"sha256:ab", "sha256:cd"},
		DiscoveryTimeout: 5 * time.Minute, BootstrapTimeout: 5 * time.Minute, APITimeout: time.Minute}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, c := range []struct{ reason, line, want string }{
		{"no arguments", "kubeadm join", "bootstrapToken or file must be set"},
		{"a control plane", "kubeadm join h:1 --control-plane --token " + token, "can only be a worker"},
		{"init", "kubeadm init", "can only join as a worker"},
		{"a missing file", "kubeadm join --config /f", "no such file"},
		{"a switch takes no value", "kubeadm join --discovery-token-unsafe-skip-ca-verification h:1 --token x.y", "is not of the form"},
	} {
		if _, err := kubeadm.FindCommand(c.line).Join(none); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, got %v", c.reason, c.want, err)
		}
	}
	byFile, err := kubeadm.FindCommand("kubeadm join --discovery-file /f --token " + token).Join(none)
	if err != nil || byFile.File != "/f" || byFile.TLSToken != token || byFile.Token != "" {
		t.Errorf("discovery by file with a token for the bootstrap: got %+v, %v", byFile, err)
	}
}
