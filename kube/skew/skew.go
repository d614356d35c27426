// Package skew compares the Kubernetes version of a pool with the version of its control plane. Nodes may be up to three minor versions
// older than their API server, and never newer. Patch versions are ignored: control planes of clouds often have none.
package skew

import (
	"fmt"

	"github.com/blang/semver/v4"
)

const (
	// Annotation of a MachinePool with the value Skip allows any version.
	Annotation = "muster.dev/skip-version-skew"
	// Skip is the only value of Annotation.
	Skip = "true"
	// MaxOlder is the number of minor versions that a node may be older than its API server, by the version skew policy of Kubernetes.
	MaxOlder = 3
)

// ControlPlane is the object that a Cluster refers to as its control plane.
type ControlPlane struct {
	// Kind and Name of the object; both empty if there is none.
	Kind, Name string
	// Version in its spec, as spelled there; empty if there is none.
	Version string
}

// Skew is a version skew that Kubernetes does not support.
type Skew struct {
	// Version of the pool.
	Version      string
	ControlPlane ControlPlane
	// newer is true if the pool is newer than its control plane; otherwise it is too old.
	newer bool
	pool  semver.Version
}

// Between returns the skew between a pool's version and its control plane's; nil if it is supported or one of the versions is missing.
func Between(version string, controlPlane ControlPlane) *Skew {
	pool, err := semver.ParseTolerant(version)
	if err != nil {
		return nil
	}
	plane, err := semver.ParseTolerant(controlPlane.Version)
	if err != nil {
		return nil
	}
	s := &Skew{Version: version, ControlPlane: controlPlane, pool: pool}
	switch {
	case pool.Major > plane.Major || (pool.Major == plane.Major && pool.Minor > plane.Minor):
		s.newer = true
	case pool.Major == plane.Major && (plane.Minor <= MaxOlder || pool.Minor >= plane.Minor-MaxOlder):
		return nil
	}
	return s
}

// String describes the problem.
func (s *Skew) String() string {
	plane := fmt.Sprintf("%s, which %s %s asks for", s.ControlPlane.Version, s.ControlPlane.Kind, s.ControlPlane.Name)
	if s.newer {
		return fmt.Sprintf("%s is newer than %s: nodes must not be newer than their API server", s.Version, plane)
	}
	return fmt.Sprintf("%s is more than %d minor versions older than %s: older nodes can't be served", s.Version, MaxOlder, plane)
}

// Exceeds reports whether the skew is larger than another one was. A smaller one is an improvement, even if it is still not supported.
func (s *Skew) Exceeds(was *Skew) bool {
	switch {
	case was == nil || was.newer != s.newer:
		return true
	case s.newer:
		return minor(s.pool).GT(minor(was.pool))
	default:
		return minor(s.pool).LT(minor(was.pool))
	}
}

// Blocks describes that a pool keeps its control plane from the next minor version: a node is as old as it may be, and is to be replaced
// with one of the wanted version. It is empty if the pool does not. nodes are the versions of the kubelets; those that are no versions do
// not count.
func Blocks(nodes []string, wanted string, controlPlane ControlPlane) string {
	plane, err := semver.ParseTolerant(controlPlane.Version)
	if err != nil {
		return ""
	}
	want, err := semver.ParseTolerant(wanted)
	if err != nil {
		return ""
	}
	for _, node := range nodes {
		have, err := semver.ParseTolerant(node)
		if err != nil || have.Major != plane.Major || have.Minor+MaxOlder > plane.Minor || !minor(have).LT(minor(want)) {
			continue
		}
		return fmt.Sprintf("BlocksControlPlane: %s %s can't go beyond v%d.%d before the nodes of v%d.%d are replaced", controlPlane.Kind,
			controlPlane.Name, plane.Major, plane.Minor, have.Major, have.Minor)
	}
	return ""
}

// minor returns a version without its patch.
func minor(v semver.Version) semver.Version { return semver.Version{Major: v.Major, Minor: v.Minor} }
