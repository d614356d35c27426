package toy

import (
	"maps"
	"slices"
)

// Source is the specification of one pool together with its cluster. An adapter of a Kubernetes kind makes it of its objects.
type Source struct {
	// Cluster is the name of the cluster.
	Cluster string
	Pool    Spec
}

// Spec is the specification of a pool. What it leaves out has the cloud's default; the cloud chooses the image.
type Spec struct {
	MachineType string            `json:"machineType"`
	Image       string            `json:"image,omitempty"`
	Zones       []string          `json:"zones,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Taints      []Taint           `json:"taints,omitempty"`
	Tags        map[string]string `json:"tags,omitempty"`
	// Autoscaling lets the cloud's autoscaler move the size.
	Autoscaling *Autoscaling `json:"autoscaling,omitempty"`
	Upgrade     Upgrade      `json:"upgrade,omitzero"`
}

// Taint keeps pods away from the nodes.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// Autoscaling holds the bounds of the cloud's autoscaler.
type Autoscaling struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// Upgrade configures how the cloud replaces nodes.
type Upgrade struct {
	// MaxSurge and MaxUnavailable are numbers or percentages. Default: 1 and 0.
	MaxSurge       string `json:"maxSurge,omitempty"`
	MaxUnavailable string `json:"maxUnavailable,omitempty"`
	// DrainTimeoutSeconds bounds the time that the pods of a node have to leave. Default: 1800.
	DrainTimeoutSeconds int `json:"drainTimeoutSeconds,omitempty"`
	// SoakSeconds is the time for which a drained node is kept.
	SoakSeconds int `json:"soakSeconds,omitempty"`
}

// Clone returns a copy that shares nothing with the specification.
func (s Spec) Clone() Spec {
	s.Zones, s.Labels, s.Taints, s.Tags = slices.Clone(s.Zones), maps.Clone(s.Labels), slices.Clone(s.Taints), maps.Clone(s.Tags)
	if s.Autoscaling != nil {
		s.Autoscaling = new(*s.Autoscaling)
	}
	return s
}
