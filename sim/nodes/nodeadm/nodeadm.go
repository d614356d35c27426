// Package nodeadm parses the cluster settings of a machine with an EKS image, from a NodeConfig document in its user data or from a call of
// the image's bootstrap.sh: the location of the cluster, and the flags of its kubelet.
package nodeadm

import (
	"encoding/base64"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// MediaType is the MIME type of a NodeConfig among the parts of user data.
const MediaType = "application/node.eks.aws"

// Config holds the machine's settings. Fields that are not set are empty.
type Config struct {
	// Cluster is its name in EKS, Server the URL of its API server, CA its authority in PEM.
	Cluster, Server string
	CA              []byte
	// Flags of the kubelet without their dashes.
	Flags map[string]string
	// MaxPods is the kubelet's; 0 when nothing is said.
	MaxPods int
}

// document holds the fields of node.eks.aws/v1alpha1 that are read.
type document struct {
	Kind string `json:"kind"`
	Spec struct {
		Cluster struct {
			Name                 string `json:"name"`
			APIServerEndpoint    string `json:"apiServerEndpoint"`
			CertificateAuthority string `json:"certificateAuthority"`
		} `json:"cluster"`
		Kubelet struct {
			Flags  []string `json:"flags"`
			Config struct {
				MaxPods int `json:"maxPods"`
			} `json:"config"`
		} `json:"kubelet"`
	} `json:"spec"`
}

// Parse reads a NodeConfig. Errors never quote it.
func Parse(text []byte) (*Config, error) {
	var d document
	if err := yaml.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("could not decode the NodeConfig: it is not YAML, or a field has another type than it should")
	}
	if d.Kind != "NodeConfig" {
		return nil, fmt.Errorf("could not decode the NodeConfig: its kind is none that nodeadm knows")
	}
	c := &Config{Cluster: d.Spec.Cluster.Name, Server: d.Spec.Cluster.APIServerEndpoint, MaxPods: d.Spec.Kubelet.Config.MaxPods}
	var err error
	if c.CA, err = base64.StdEncoding.DecodeString(strings.TrimSpace(d.Spec.Cluster.CertificateAuthority)); err != nil {
		return nil, fmt.Errorf("could not decode the NodeConfig: certificateAuthority is not base64")
	}
	c.Flags = flags(strings.Join(d.Spec.Kubelet.Flags, " "))
	return c, nil
}

// Add takes over what a later document says. Flags come together.
func (c *Config) Add(next *Config) {
	for _, f := range []struct {
		to   *string
		from string
	}{{&c.Cluster, next.Cluster}, {&c.Server, next.Server}} {
		if f.from != "" {
			*f.to = f.from
		}
	}
	if len(next.CA) > 0 {
		c.CA = next.CA
	}
	if next.MaxPods > 0 {
		c.MaxPods = next.MaxPods
	}
	for name, value := range next.Flags {
		if c.Flags == nil {
			c.Flags = map[string]string{}
		}
		c.Flags[name] = value
	}
}

// bootstrap is the program of older EKS images.
const bootstrap = "/etc/eks/bootstrap.sh"

// FindBootstrap reads a shell line that calls bootstrap.sh; nil for any other line.
func FindBootstrap(line string) *Config {
	_, call, found := strings.Cut(line, bootstrap)
	if !found {
		return nil
	}
	c := &Config{}
	words := fields(call)
	for i := 0; i < len(words); i++ {
		word := words[i]
		if !strings.HasPrefix(word, "--") {
			if c.Cluster == "" {
				c.Cluster = word
			}
			continue
		}
		name, value, inline := strings.Cut(word, "=")
		if !inline && i+1 < len(words) {
			i++
			value = words[i]
		}
		c.argument(name, value)
	}
	return c
}

// argument is one of bootstrap.sh's own.
func (c *Config) argument(name, value string) {
	switch name {
	case "--kubelet-extra-args":
		c.Flags = flags(value)
	case "--apiserver-endpoint":
		c.Server = value
	case "--b64-cluster-ca":
		if ca, err := base64.StdEncoding.DecodeString(value); err == nil {
			c.CA = ca
		}
	}
}

// flags reads a kubelet's flags from one string.
func flags(text string) map[string]string {
	all := map[string]string{}
	words := fields(text)
	for i := 0; i < len(words); i++ {
		name, value, inline := strings.Cut(strings.TrimLeft(words[i], "-"), "=")
		if !inline && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			i++
			value = words[i]
		}
		all[name] = value
	}
	return all
}

// fields splits a shell line at blanks that are not quoted, and takes the quotes off.
func fields(line string) []string {
	var all []string
	var word *strings.Builder
	var quote rune
	for _, r := range line {
		blank := strings.ContainsRune(" \t\n", r)
		switch {
		case quote != 0 && r == quote:
			quote = 0
			continue
		case quote == 0 && blank:
			if word != nil {
				all = append(all, word.String())
			}
			word = nil
			continue
		case word == nil:
			word = &strings.Builder{}
		}
		if quote == 0 && strings.ContainsRune(`"'`, r) {
			quote = r
			continue
		}
		word.WriteRune(r)
	}
	if word != nil {
		all = append(all, word.String())
	}
	return all
}
