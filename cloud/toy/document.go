package toy

import (
	"time"

	"github.com/muster-project/muster/pool"
)

// The documents of the API, as far as they are read.
type (
	clusterDoc struct {
		Name, State, Version, Account string
	}

	poolDoc struct {
		Name, State, Revision string
		CreatedAt             time.Time
		Count                 int
		Version               string
		MachineType           string
		Image                 string
		Zones                 []string
		Labels                map[string]string
		Taints                []Taint
		Tags                  map[string]string
		Autoscaling           autoscalingDoc
		Upgrade               upgradeDoc
		LastOperation         *operationDoc
		Problem               *problemDoc
	}

	autoscalingDoc struct {
		Enabled bool `json:"enabled"`
		Min     int  `json:"min"`
		Max     int  `json:"max"`
	}

	upgradeDoc struct {
		MaxSurge, MaxUnavailable string
		DrainTimeout, Soak       int
	}

	operationDoc struct {
		ID, Kind, State    string
		StartedAt, EndedAt time.Time
		Error              *problemDoc
	}

	problemDoc struct{ Code, Message string }

	nodeDoc struct {
		ID, Name, Pool, ProviderID, Zone, State string
		Version, MachineType, Image             string
		CreatedAt                               time.Time
	}

	machineTypeDoc struct {
		CPUs, MemoryMiB, Pods int
		Architecture          string
	}
)

// The states of clusters, pools, operations and nodes that code depends on.
const (
	stateRunning   = "running"
	stateFailed    = "failed"
	stateCancelled = "cancelled"
	stateDeleting  = "deleting"
	stateUpgrading = "upgrading"
	stateCreating  = "creating"
	stateDraining  = "draining"
	stateStopped   = "stopped"
)

// running reports whether the operation has not ended.
func (o *operationDoc) running() bool { return o != nil && o.State == stateRunning }

// version returns the version of Kubernetes; unknown without a pool.
func (p *poolDoc) version() pool.Version {
	if p == nil {
		return pool.Version{}
	}
	return versionOf(p.Version)
}

// versionOf returns a version that the cloud reports; unknown where it is none.
func versionOf(text string) pool.Version {
	v, _ := pool.ParseVersion(text)
	return v
}

// state returns the state of a node in package pool's words.
func (n *nodeDoc) state() pool.InstanceState {
	switch n.State {
	case stateCreating:
		return pool.Pending
	case stateDraining, stateDeleting:
		return pool.Terminating
	case stateStopped:
		return pool.Failed
	}
	return pool.Running
}
