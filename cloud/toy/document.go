package toy

import (
	"time"

	"github.com/muster-project/muster/cloud/toy/session"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/upgrade"
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
		Problem               *session.Problem
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
		Error              *session.Problem
	}

	nodeDoc struct {
		ID, Name, Pool, ProviderID, Zone, State string
		Version, MachineType, Image             string
		CreatedAt                               time.Time
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
func (p *poolDoc) version() upgrade.Version {
	if p == nil {
		return upgrade.Version{}
	}
	return versionOf(p.Version)
}

// versionOf returns a version that the cloud reports; unknown where it is none.
func versionOf(text string) upgrade.Version {
	v, _ := upgrade.Parse(text)
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
