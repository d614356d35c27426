package view

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Level classifies the state of a pool, by how soon a person should look at it.
type Level string

// The levels, most urgent first.
const (
	// Problem is the level of a pool that does not continue by itself, or whose machines fail.
	Problem Level = "problem"
	// Progressing is the level of a pool that changes: it is created, scaled, updated or deleted, or waits for something.
	Progressing Level = "progressing"
	// Unknown is the level of a pool without a status.
	Unknown Level = "unknown"
	// Healthy is the level of a pool that has what it asks for.
	Healthy Level = "healthy"
)

// Levels lists all levels, most urgent first.
func Levels() []Level { return []Level{Problem, Progressing, Unknown, Healthy} }

// Rank returns the position of a level in Levels.
func (l Level) Rank() int {
	for i, one := range Levels() {
		if one == l {
			return i
		}
	}
	return len(Levels())
}

// unhealthy are the states in which a pool needs a person, of infrastructure objects and as phases of the core object.
var unhealthy = map[string]bool{stateError: true, "Unhealthy": true, string(clusterv1.MachinePoolPhaseFailed): true}

// level classifies a pool by its state, by whether its infrastructure object was read, and by the condition that explains its failure.
func level(mp *clusterv1.MachinePool, p Pool, infra bool, cause *metav1.Condition) Level {
	switch {
	case unhealthy[p.State]:
		return Problem
	case !mp.DeletionTimestamp.IsZero():
		return Progressing
	case p.State == "":
		return Unknown
	case infra && p.Settled && cause == nil && (p.UpToDate == nil || equal(p.UpToDate, p.Desired)):
		return Healthy
	}
	return Progressing
}
