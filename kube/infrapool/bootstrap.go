package infrapool

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
	// formatRaw is what nobody has named and no cloud-init would act upon: the configuration of an operating system that has
	// something of its own (Talos, Bottlerocket). Machines get it as it is.
	formatRaw = "raw"
)

// findBootstrap reads what new machines boot with. Without it pools that exist go on being sized and drained.
func (r *Reconciler[O, S]) findBootstrap(ctx context.Context, s *scope[O]) error {
	boots := r.kind.bootstrapMode(s.object)
	if s.pool == nil || s.deleting() || boots == BootstrapModeNone {
		return nil
	}
	name := ptr.Deref(s.pool.Spec.Template.Spec.Bootstrap.DataSecretName, "")
	if name == "" && boots == BootstrapModeOptional && !s.pool.Spec.Template.Spec.Bootstrap.ConfigRef.IsDefined() {
		s.booted = true
		return nil
	}
	if name == "" {
		s.hold(waitForBootstrap(s.pool.Name, s.pool.Spec.Template.Spec.Bootstrap.ConfigRef.Name))
		return nil
	}
	key := client.ObjectKey{Namespace: s.pool.Namespace, Name: name}
	secret := &corev1.Secret{}
	err := r.Client.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		s.hold(&pool.Cause{Reason: reasonNoBootstrap, Message: fmt.Sprintf(
			"secret %s, which MachinePool %s names in spec.template.spec.bootstrap.dataSecretName, does not exist", key, s.pool.Name)})
		return nil
	}
	if err != nil {
		return fmt.Errorf("read bootstrap data secret %s: %w", key, err)
	}
	bootstrap, cause := bootstrapOf(secret)
	if refused := credentialsIn(secret, s.pool.Spec.ClusterName); refused != nil {
		cause = refused
	}
	if cause != nil {
		s.hold(cause)
		return nil
	}
	s.bootstrap, s.secret, s.booted = bootstrap, name, true
	return nil
}

// bootstrapMode returns what bootstrap data is to the object's machines.
func (k Kind[O, S]) bootstrapMode(o O) BootstrapMode {
	if k.BootstrapMode == nil {
		return BootstrapModeRequired
	}
	return k.BootstrapMode(o)
}

func waitForBootstrap(machinePool, config string) *pool.Cause {
	text := fmt.Sprintf("MachinePool %s has no spec.template.spec.bootstrap.dataSecretName yet", machinePool)
	if config != "" {
		text += fmt.Sprintf(": waiting for its bootstrap configuration %s", config)
	}
	return &pool.Cause{Reason: reasonWaitBootstrap, Message: text}
}

// credentialsIn returns why a secret that holds the credentials of a Cluster must not become user data, by its name or by what it is; nil
// if it may. Machines would boot with them, and every process on a machine can read its user data.
func credentialsIn(secret *corev1.Secret, cluster string) *pool.Cause {
	for _, name := range []string{cluster, secret.Labels[clusterv1.ClusterNameLabel]} {
		if text := contract.CredentialsText(secret.Name, name); name != "" && text != "" {
			return &pool.Cause{Reason: reasonBadBootstrap, Message: text}
		}
	}
	if data := secret.Data[dataKey]; !isCloudInit(data) && isKubeconfig(data) {
		return &pool.Cause{Reason: reasonBadBootstrap, Message: fmt.Sprintf("bootstrap data secret %s/%s holds a kubeconfig under key %q; name a secret with bootstrap data",
			secret.Namespace, secret.Name, dataKey)}
	}
	return nil
}

// isKubeconfig reports whether data is a configuration of clients, such as kubectl's.
func isKubeconfig(data []byte) bool {
	config, err := clientcmd.Load(data)
	return err == nil && len(config.Clusters)+len(config.AuthInfos) > 0
}

// bootstrapOf takes the data out of its secret, or says what is wrong with it. It never says what the data is: it holds
// a token that lets machines join.
func bootstrapOf(secret *corev1.Secret) (cloud.Bootstrap, *pool.Cause) {
	bad := func(format string, args ...any) (cloud.Bootstrap, *pool.Cause) {
		return cloud.Bootstrap{}, &pool.Cause{Reason: reasonBadBootstrap,
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

// formatOf is the format of data of which its secret says this, or nothing; or what is wrong with it.
func formatOf(data []byte, said string) (format, problem string) {
	switch said {
	case formatIgnition:
		if !isIgnition(data) {
			return "", fmt.Sprintf("holds no Ignition configuration: key %q says %s, but it is no JSON object with ignition.version", formatKey, formatIgnition)
		}
	case formatCloudConfig:
		if !isCloudInit(data) {
			return "", fmt.Sprintf("holds no cloud-init data, although key %q says %s: its first line should be %s", formatKey, formatCloudConfig, firstLines)
		}
	case "":
		return guessed(data)
	}
	return said, ""
}

// guessed is formatOf where the secret says nothing.
func guessed(data []byte) (format, problem string) {
	switch {
	case isIgnition(data):
		return "", fmt.Sprintf("holds an Ignition configuration: set key %q to %s", formatKey, formatIgnition)
	case isCloudInit(data):
		return formatCloudConfig, ""
	case configures.Match(data):
		return formatRaw, ""
	default:
		return "", fmt.Sprintf("holds no cloud-init data and no other configuration: its first line should be %s; set key %q to what it is", firstLines, formatKey)
	}
}

// firstLines are the usual ones of cloud-init data, for messages.
const firstLines = "#cloud-config, #!, ## template: jinja, MIME-Version, or another that cloud-init knows"

// configures is how data begins that is the configuration of something, in YAML, TOML or JSON: a table, or a name with a value.
var configures = regexp.MustCompile(`^(?:\s*(?:[#;-].*)?\n)*\s*(?:["\w./-]+\s*(?::\s|=\s*[^=\s])|[\[{])`)

// cloudInitHeaders begin everything that cloud-init, or the service of its kind on Windows images, acts upon.
var cloudInitHeaders = []string{
	"#cloud-config", "#!", "## template:", "#include", "#cloud-boothook", "#part-handler", "#cloud-config-archive",
	"Content-Type:", "MIME-Version:", "<powershell>", "<script>", "#ps1", "rem cmd", "\x1f\x8b",
}

func isCloudInit(data []byte) bool {
	// Blanks and empty lines in front of the header are passed over by cloud-init too.
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
