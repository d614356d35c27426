// Package kubeadm joins a simulated machine to a cluster as `kubeadm join` does: it reads the join configuration, discovers the
// cluster with a bootstrap token or a kubeconfig file, and has a client certificate signed for the machine's kubelet.
package kubeadm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// DefaultTimeout of the stages of a join, and defaultCallTimeout of a call within a stage, where the configuration does not set them.
const (
	DefaultTimeout     = 5 * time.Minute
	defaultCallTimeout = time.Minute
)

// Join holds the settings of a join configuration, of any version, that a worker needs.
type Join struct {
	// NodeName is empty where the hostname is to be used.
	NodeName, CRISocket string
	// Taints that the Node is registered with.
	Taints []corev1.Taint
	// KubeletArgs are flags of the kubelet without their dashes; the last one of a name counts.
	KubeletArgs map[string]string

	// Endpoint is host:port of the API server, for discovery by token; Token and TLSToken are id.secret.
	Endpoint, Token, TLSToken string
	// CAHashes pin the cluster's CA, as sha256:<hex>; SkipCA allows none.
	CAHashes []string
	SkipCA   bool
	// File is the path of a kubeconfig, for discovery by file.
	File string

	// DiscoveryTimeout and BootstrapTimeout bound the two stages, APITimeout what lies between them.
	DiscoveryTimeout, BootstrapTimeout, APITimeout time.Duration
}

// joinConfiguration holds the fields of kubeadm.k8s.io/v1beta1 to v1beta4 that are read. Durations and arguments changed their shape
// between versions.
type joinConfiguration struct {
	metav1.TypeMeta  `json:",inline"`
	NodeRegistration struct {
		Name             string         `json:"name"`
		CRISocket        string         `json:"criSocket"`
		Taints           []corev1.Taint `json:"taints"`
		KubeletExtraArgs kubeletArgs    `json:"kubeletExtraArgs"`
	} `json:"nodeRegistration"`
	Discovery struct {
		BootstrapToken *struct {
			Token                    string   `json:"token"`
			APIServerEndpoint        string   `json:"apiServerEndpoint"`
			CACertHashes             []string `json:"caCertHashes"`
			UnsafeSkipCAVerification bool     `json:"unsafeSkipCAVerification"`
		} `json:"bootstrapToken"`
		File *struct {
			KubeConfigPath string `json:"kubeConfigPath"`
		} `json:"file"`
		TLSBootstrapToken string          `json:"tlsBootstrapToken"`
		Timeout           metav1.Duration `json:"timeout"`
	} `json:"discovery"`
	Timeouts struct {
		Discovery    metav1.Duration `json:"discovery"`
		TLSBootstrap metav1.Duration `json:"tlsBootstrap"`
		APICall      metav1.Duration `json:"kubernetesAPICall"`
	} `json:"timeouts"`
	ControlPlane *struct{} `json:"controlPlane"`
}

// kubeletArgs is a mapping up to v1beta3 and a list of name and value since.
type kubeletArgs map[string]string

// UnmarshalJSON takes either shape.
func (a *kubeletArgs) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) || bytes.Equal(b, []byte("null")) {
		return json.Unmarshal(b, (*map[string]string)(a))
	}
	var list []struct{ Name, Value string }
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*a = kubeletArgs{}
	for _, e := range list {
		(*a)[e.Name] = e.Value
	}
	return nil
}

// versions that a machine's kubeadm reads.
var versions = map[string]bool{
	"kubeadm.k8s.io/v1beta1": true, "kubeadm.k8s.io/v1beta2": true, "kubeadm.k8s.io/v1beta3": true, "kubeadm.k8s.io/v1beta4": true,
}

// ParseConfig reads a join configuration out of a YAML file, which may hold other documents too. Errors never quote its values.
func ParseConfig(b []byte) (*Join, error) {
	for _, doc := range documents(b) {
		var t metav1.TypeMeta
		if err := yaml.Unmarshal(doc, &t); err != nil {
			return nil, fmt.Errorf("couldn't parse the join configuration: it is not YAML")
		}
		if t.Kind != "JoinConfiguration" {
			continue
		}
		if !versions[t.APIVersion] {
			return nil, fmt.Errorf("no kind \"JoinConfiguration\" is registered for version %q: want kubeadm.k8s.io/v1beta1 to v1beta4",
				t.APIVersion)
		}
		var c joinConfiguration
		if err := yaml.Unmarshal(doc, &c); err != nil {
			return nil, fmt.Errorf("couldn't parse the join configuration: a field does not have the type that %s gives it", t.APIVersion)
		}
		return c.join()
	}
	return nil, fmt.Errorf("no InitConfiguration or JoinConfiguration kind was found in that file")
}

// documents splits a YAML stream.
func documents(b []byte) [][]byte {
	var docs [][]byte
	for _, d := range bytes.Split(append([]byte("\n"), b...), []byte("\n---")) {
		if len(bytes.TrimSpace(d)) > 0 {
			docs = append(docs, d)
		}
	}
	return docs
}

func (c *joinConfiguration) join() (*Join, error) {
	if c.ControlPlane != nil {
		return nil, fmt.Errorf("the join configuration asks for a control plane instance: a machine of a pool can only be a worker")
	}
	r := c.NodeRegistration
	j := &Join{
		NodeName: r.Name, CRISocket: r.CRISocket, Taints: r.Taints, KubeletArgs: r.KubeletExtraArgs, TLSToken: c.Discovery.TLSBootstrapToken,
		DiscoveryTimeout: firstSet(DefaultTimeout, c.Timeouts.Discovery, c.Discovery.Timeout),
		BootstrapTimeout: firstSet(DefaultTimeout, c.Timeouts.TLSBootstrap),
		APITimeout:       firstSet(defaultCallTimeout, c.Timeouts.APICall),
	}
	if t := c.Discovery.BootstrapToken; t != nil {
		j.Endpoint, j.Token, j.CAHashes, j.SkipCA = t.APIServerEndpoint, t.Token, t.CACertHashes, t.UnsafeSkipCAVerification
	}
	if f := c.Discovery.File; f != nil {
		j.File = f.KubeConfigPath
	}
	return j, j.validate()
}

func firstSet(otherwise time.Duration, durations ...metav1.Duration) time.Duration {
	for _, d := range durations {
		if d.Duration > 0 {
			return d.Duration
		}
	}
	return otherwise
}

// validate refuses what kubeadm's own validation refuses, with the field's name.
func (j *Join) validate() error {
	switch {
	case j.Endpoint == "" && j.Token == "" && j.File == "":
		return fmt.Errorf("discovery: Invalid value: bootstrapToken or file must be set")
	case j.File != "" && (j.Token != "" || j.Endpoint != ""):
		return fmt.Errorf("discovery: Invalid value: bootstrapToken and file cannot both be set")
	case j.File != "":
		return nil
	case j.Endpoint == "":
		return fmt.Errorf("discovery.bootstrapToken.apiServerEndpoint: Required value: want host:port")
	case !validToken(j.Token):
		return fmt.Errorf("discovery.bootstrapToken.token: Invalid value: the bootstrap token is not of the form [a-z0-9]{6}.[a-z0-9]{16}")
	case len(j.CAHashes) == 0 && !j.SkipCA:
		return fmt.Errorf("discovery.bootstrapToken.caCertHashes: Required value: using token-based discovery without caCertHashes can be " +
			"unsafe. Set unsafeSkipCAVerification as true in your kubeadm config file to continue")
	}
	return nil
}

// validToken reports whether a bootstrap token has kubeadm's form.
func validToken(t string) bool {
	id, secret := SplitToken(t)
	return len(id) == 6 && len(secret) == 16 && strings.Trim(id+secret, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// SplitToken gives a bootstrap token's id, which may be shown, and its secret, which may not.
func SplitToken(t string) (id, secret string) {
	id, secret, _ = strings.Cut(t, ".")
	return id, secret
}
