// Package skew compares the Kubernetes version of a pool with the one that its control plane asks for. Nodes may be up to three
// minor versions older than their API server, and never newer. Patch versions do not count: control planes of clouds often name
// none.
package skew

import (
	"fmt"

	"github.com/blang/semver/v4"
)

const (
	// Annotation of a MachinePool with the value Skip takes a version at any distance from the control plane's.
	Annotation = "muster.dev/skip-version-skew"
	// Skip is the one value of Annotation.
	Skip = "true"
	// MostOlder is how many minor versions a node may be older than its API server, by Kubernetes' own policy.
	MostOlder = 3
)

// ControlPlane is the object that a Cluster names as its control plane.
type ControlPlane struct {
	// Kind and Name of the object; both empty where there is none.
	Kind, Name string
	// Version that it asks for, as it spells it; empty where it names none.
	Version string
}

// Skew is a distance between two versions that Kubernetes does not support.
type Skew struct {
	// Version is the pool's.
	Version      string
	ControlPlane ControlPlane
	// newer says that the pool is newer than its control plane; otherwise it is too old.
	newer bool
	pool  semver.Version
}

// Between is the distance between a pool's version and its control plane's, nil where it is supported or where either names none.
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
	case pool.Major == plane.Major && (plane.Minor <= MostOlder || pool.Minor >= plane.Minor-MostOlder):
		return nil
	}
	return s
}

// String says what is wrong, for people.
func (s *Skew) String() string {
	plane := fmt.Sprintf("%s, which %s %s asks for", s.ControlPlane.Version, s.ControlPlane.Kind, s.ControlPlane.Name)
	if s.newer {
		return fmt.Sprintf("%s is newer than %s: nodes must not be newer than their API server", s.Version, plane)
	}
	return fmt.Sprintf("%s is more than %d minor versions older than %s: older nodes can't be served", s.Version, MostOlder, plane)
}

// Exceeds says whether a version is further off than another one was: also one that is wrong may come nearer.
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

// minor is a version as far as it counts.
func minor(v semver.Version) semver.Version { return semver.Version{Major: v.Major, Minor: v.Minor} }
