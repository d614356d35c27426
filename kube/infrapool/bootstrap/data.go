// Package bootstrap reads what new machines boot with, tells one bootstrap configuration of a pool from another, and keeps the bootstrap
// tokens alive that machines still join with.
package bootstrap

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/machinepool/contract"
	"github.com/muster-project/muster/pool"
)

const (
	// dataKey and formatKey are the keys of a bootstrap data secret.
	dataKey, formatKey = "value", "format"
	formatCloudConfig  = "cloud-config"
	formatIgnition     = "ignition"
	// formatRaw is data without a named format that cloud-init would not act upon: the configuration of an operating system with a format
	// of its own (Talos, Bottlerocket). Machines get it as it is.
	formatRaw = "raw"
)

// Mode states whether the machines of an infrastructure object need the bootstrap data of the MachinePool.
type Mode int

const (
	// Required data is waited for: no machine could join without it.
	Required Mode = iota
	// Optional data is waited for if the MachinePool names any, and not missed if it names none: the cloud's own images know how to join.
	Optional
	// None means that data cannot reach the machines; it is not read.
	None
)

// The reasons for which no machine can be created for its bootstrap data.
const (
	ReasonWaiting = "WaitingForBootstrapData"
	ReasonMissing = "BootstrapDataMissing"
	ReasonInvalid = "BootstrapDataInvalid"
)

// Data describes the bootstrap data of new machines.
type Data struct {
	// Bootstrap is empty if there is none, or none that may be used.
	Bootstrap cloud.Bootstrap
	// Secret is the name of the secret with the data; empty if the MachinePool names none.
	Secret string
	// Known is true if it is known what machines boot with, which may be nothing.
	Known bool
}

// Read reads the data of a MachinePool. The cause is why no new machine can be created; existing pools are still sized and drained.
func Read(ctx context.Context, reader client.Reader, mp *clusterv1.MachinePool, mode Mode) (Data, *pool.Cause, error) {
	if mp == nil || mode == None {
		return Data{}, nil, nil
	}
	name, config := secretName(mp), mp.Spec.Template.Spec.Bootstrap.ConfigRef
	if name == "" && mode == Optional && !config.IsDefined() {
		return Data{Known: true}, nil, nil
	}
	if name == "" {
		return Data{}, waiting(mp.Name, config.Name), nil
	}
	key := client.ObjectKey{Namespace: mp.Namespace, Name: name}
	secret := &corev1.Secret{}
	err := reader.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		return Data{}, &pool.Cause{Reason: ReasonMissing, Message: fmt.Sprintf(
			"secret %s, which MachinePool %s names in spec.template.spec.bootstrap.dataSecretName, does not exist", key, mp.Name)}, nil
	}
	if err != nil {
		return Data{}, nil, fmt.Errorf("read bootstrap data secret %s: %w", key, err)
	}
	bootstrap, cause := bootstrapOf(secret)
	if refused := credentialsIn(secret, mp.Spec.ClusterName); refused != nil {
		cause = refused
	}
	if cause != nil {
		return Data{}, cause, nil
	}
	return Data{Bootstrap: bootstrap, Secret: name, Known: true}, nil, nil
}

// secretName returns the name of the secret with the data of a MachinePool, or "".
func secretName(mp *clusterv1.MachinePool) string {
	return ptr.Deref(mp.Spec.Template.Spec.Bootstrap.DataSecretName, "")
}

func waiting(machinePool, config string) *pool.Cause {
	text := fmt.Sprintf("MachinePool %s has no spec.template.spec.bootstrap.dataSecretName yet", machinePool)
	if config != "" {
		text += fmt.Sprintf(": waiting for its bootstrap configuration %s", config)
	}
	return &pool.Cause{Reason: ReasonWaiting, Message: text}
}

// credentialsIn returns why a secret that holds the credentials of a Cluster must not become user data, by its name or by what it is; nil
// if it may. Machines would boot with them, and every process on a machine can read its user data.
func credentialsIn(secret *corev1.Secret, cluster string) *pool.Cause {
	for _, name := range []string{cluster, secret.Labels[clusterv1.ClusterNameLabel]} {
		if text := contract.CredentialsText(secret.Name, name); name != "" && text != "" {
			return &pool.Cause{Reason: ReasonInvalid, Message: text}
		}
	}
	if data := secret.Data[dataKey]; !isCloudInit(data) && isKubeconfig(data) {
		return &pool.Cause{Reason: ReasonInvalid,
			Message: fmt.Sprintf("bootstrap data secret %s/%s holds a kubeconfig under key %q; name a secret with bootstrap data",
				secret.Namespace, secret.Name, dataKey)}
	}
	return nil
}

// isKubeconfig reports whether data is a configuration of clients, such as kubectl's.
func isKubeconfig(data []byte) bool {
	config, err := clientcmd.Load(data)
	return err == nil && len(config.Clusters)+len(config.AuthInfos) > 0
}

// bootstrapOf returns the data in a secret, or what is wrong with it. The message never contains the data: it holds a token with which
// machines join.
func bootstrapOf(secret *corev1.Secret) (cloud.Bootstrap, *pool.Cause) {
	bad := func(format string, args ...any) (cloud.Bootstrap, *pool.Cause) {
		return cloud.Bootstrap{}, &pool.Cause{Reason: ReasonInvalid,
			Message: fmt.Sprintf("bootstrap data secret %s/%s %s", secret.Namespace, secret.Name, fmt.Sprintf(format, args...))}
	}
	data, ok := secret.Data[dataKey]
	if !ok {
		return bad("has no key %q", dataKey)
	}
	if len(data) == 0 {
		return bad("has nothing under key %q", dataKey)
	}
	format, problem := formatOf(data, string(secret.Data[formatKey]))
	if problem != "" {
		return bad("%s", problem)
	}
	return cloud.NewBootstrap(data, format), nil
}

// formatOf returns the format of data whose secret names this format, or none, or what is wrong with the data.
func formatOf(data []byte, named string) (format, problem string) {
	switch named {
	case formatIgnition:
		if !isIgnition(data) {
			return "", fmt.Sprintf("holds no Ignition configuration: key %q says %s, but it is no JSON object with ignition.version", formatKey,
				formatIgnition)
		}
	case formatCloudConfig:
		if !isCloudInit(data) {
			return "", fmt.Sprintf("holds no cloud-init data, although key %q says %s: its first line should be %s", formatKey, formatCloudConfig,
				firstLines)
		}
	case "":
		return guessed(data)
	}
	return named, ""
}

// guessed is formatOf if the secret names no format.
func guessed(data []byte) (format, problem string) {
	switch {
	case isIgnition(data):
		return "", fmt.Sprintf("holds an Ignition configuration: set key %q to %s", formatKey, formatIgnition)
	case isCloudInit(data):
		return formatCloudConfig, ""
	case configures.Match(data):
		return formatRaw, ""
	default:
		return "", fmt.Sprintf("holds no cloud-init data and no other configuration: its first line should be %s; set key %q to what it is",
			firstLines, formatKey)
	}
}

// firstLines are the usual first lines of cloud-init data, for messages.
const firstLines = "#cloud-config, #!, ## template: jinja, MIME-Version, or another that cloud-init knows"

// configures matches the beginning of a configuration in YAML, TOML or JSON: a table, or a name with a value.
var configures = regexp.MustCompile(`^(?:\s*(?:[#;-].*)?\n)*\s*(?:["\w./-]+\s*(?::\s|=\s*[^=\s])|[\[{])`)

// cloudInitHeaders are the beginnings of all data that cloud-init, or its counterpart on Windows images, acts upon.
var cloudInitHeaders = []string{
	"#cloud-config", "#!", "## template:", "#include", "#cloud-boothook", "#part-handler", "#cloud-config-archive",
	"Content-Type:", "MIME-Version:", "<powershell>", "<script>", "#ps1", "rem cmd", "\x1f\x8b",
}

func isCloudInit(data []byte) bool {
	// cloud-init skips blanks and empty lines before the header, too.
	data = bytes.TrimLeftFunc(data, unicode.IsSpace)
	for _, header := range cloudInitHeaders {
		if len(data) >= len(header) && bytes.EqualFold(data[:len(header)], []byte(header)) {
			return true
		}
	}
	return false
}

func isIgnition(data []byte) bool {
	var config struct {
		Ignition struct {
			Version string `json:"version"`
		} `json:"ignition"`
	}
	return json.Unmarshal(data, &config) == nil && config.Ignition.Version != ""
}
