package toy

import (
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/managed"
)

// Cluster is a cluster as clients see it.
type Cluster struct {
	Name    string        `json:"name"`
	State   managed.State `json:"state"`
	Version string        `json:"version"`
	Account string        `json:"account"`
}

// Pool is a pool as clients see it.
type Pool struct {
	Settings
	Cluster  string        `json:"cluster"`
	State    managed.State `json:"state"`
	Revision string        `json:"revision"`
	Created  time.Time     `json:"createdAt"`
	// LastOperation is the one that runs, or the last that ended.
	LastOperation *Operation `json:"lastOperation,omitempty"`
	// Problem is why nodes are missing.
	Problem *Problem `json:"problem,omitempty"`
}

// Operation is a change that takes time.
type Operation struct {
	ID    string        `json:"id"`
	Kind  managed.State `json:"kind"`
	State string        `json:"state"`
	// Ended is zero while it runs.
	Started time.Time `json:"startedAt"`
	Ended   time.Time `json:"endedAt,omitzero"`
	Error   *Problem  `json:"error,omitempty"`
}

// Problem is why something failed.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Node is a node as clients see it.
type Node struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Pool        string    `json:"pool"`
	ProviderID  string    `json:"providerId"`
	Zone        string    `json:"zone"`
	State       string    `json:"state"`
	Version     string    `json:"version"`
	MachineType string    `json:"machineType"`
	Image       string    `json:"image"`
	Created     time.Time `json:"createdAt"`
}

func showCluster(c *managed.Cluster) Cluster {
	return Cluster{Name: c.Name, State: c.State, Version: c.Version, Account: Account}
}

func showPool(s *managed.Service, c *managed.Cluster, p *managed.Pool) Pool {
	return Pool{
		Settings: settingsOf(p), Cluster: c.Name, State: p.State, Revision: strconv.FormatInt(p.Revision, 10), Created: p.Created,
		LastOperation: lastOperation(managed.LastOperation(s, p)), Problem: problem(p.Lacking, p.Failure),
	}
}

func problem(failures ...*managed.Failure) *Problem {
	for _, f := range failures {
		if f != nil {
			return &Problem{f.Code, f.Message}
		}
	}
	return nil
}

// lastOperation shows the operation of a pool that runs, or the one that began last.
func lastOperation(o *managed.Operation) *Operation {
	if o == nil {
		return nil
	}
	out := &Operation{ID: o.ID, Kind: o.Doing, State: "succeeded", Started: o.Start, Ended: o.End, Error: problem(o.Failure)}
	switch {
	case o.Running():
		out.State = "running"
	case o.Aborted:
		out.State = "cancelled"
	case o.Failure != nil:
		out.State = "failed"
	}
	return out
}

func showNode(c *managed.Cluster, p *managed.Pool, i *managed.Instance) Node {
	return Node{ID: i.ID, Name: i.Name, Pool: p.Name, ProviderID: providerID(c.Name, i.ID), Zone: i.Zone, State: i.State(p),
		Version: i.Version, MachineType: i.Type, Image: i.Model[strings.LastIndex(i.Model, "|")+1:], Created: i.Created}
}
