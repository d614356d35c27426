package nodepool

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/oci/oke"
	"github.com/muster-project/muster/pool"
)

// statusIssues returns why nodes are not created, in OKE's words. None of it keeps the node pool from being managed.
func (r poolRead) statusIssues(t target) []pool.Cause {
	p := &oke.Problems{}
	for _, n := range r.Pool.Nodes {
		p.Places = text(n.AvailabilityDomain)
		if text(n.Id) == "" {
			p.Places = r.domains()
		}
		if e := n.NodeError; e != nil && text(n.LifecycleState) != oke.StateDeleted {
			p.Add(oke.LaunchFailed, text(e.Code), text(e.Message))
		}
	}
	p.Places = r.domains()
	if p.AddState(t.at, text(r.Pool.LifecycleState), text(r.Pool.LifecycleDetails)) {
		return p.List
	}
	for _, n := range r.Nodes {
		if n.state == pool.Failed && text(n.LifecycleState) != oke.StateInactive && n.NodeError == nil {
			p.Places = text(n.AvailabilityDomain)
			p.Add(oke.LaunchFailed, "", cmp.Or(text(n.LifecycleDetails), "OKE could not create a node, and does not report why"))
		}
	}
	return p.List
}

// domains returns the availability domains of the node pool.
func (r poolRead) domains() string {
	var names []string
	if c := r.Pool.NodeConfigDetails; c != nil {
		for _, p := range c.PlacementConfigs {
			names = append(names, text(p.AvailabilityDomain))
		}
	}
	return strings.Join(names, ", ")
}

// versionIssues are those of the version: what it waits for, and why it can't be had.
func (d *desired) versionIssues(t target, read poolRead) []pool.Cause {
	runs := text(read.Pool.KubernetesVersion)
	switch {
	case d.waits:
		return []pool.Cause{{Reason: pool.ControlPlaneUpgradePending, Message: fmt.Sprintf(
			"nodes run Kubernetes %s, %s is wanted, and the control plane runs %s: it is upgraded first", runs, d.requested, t.cluster.Version)}}
	case d.ahead:
		return []pool.Cause{{Reason: "NewerVersion", Message: fmt.Sprintf(
			"the node pool runs Kubernetes %s, and %s asks for %s: OKE takes no node pool back, and the newer version is kept", runs, fields.Version,
			d.requested)}}
	}
	return nil
}
