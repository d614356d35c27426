package scaleway

import (
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

// node is a machine of a pool, or one that could not be created.
type node struct {
	*managed.Instance
	// failure is why it could not be created.
	failure *managed.Failure
}

// nodeRow holds the service's data about a node.
type nodeRow struct {
	// Joined is true once it was Ready. Since is the time at which it was first not Ready, Rebooted is true if the autohealer has rebooted it
	// since.
	Joined   bool
	Since    time.Time
	Rebooted bool
	// Reboot is the drain before a reboot, which lasts until the node is Ready again; Restarted is true behind the drain.
	Reboot    *managed.Departure
	Restarted bool
}

// nodesOf returns the nodes of a pool.
func (w *region) nodesOf(p *managed.Pool) []node {
	var out []node
	staying := 0
	for _, i := range w.service.Instances.Of(p.Key()) {
		if out = append(out, node{Instance: i}); !i.Deleting && p.Leaving[i.Key] == nil {
			staying++
		}
	}
	if p.Lacking == nil || !w.Switches.On(ShowsFailedNodes) || p.State == managed.Deleting {
		return out
	}
	for n := staying; n < p.Count; n++ {
		id := w.Seed.UUID("failed", p.Key(), n)
		out = append(out, node{failure: p.Lacking, Instance: &managed.Instance{Pool: p.Key(), Key: p.Key() + "|failed" + strconv.Itoa(n), ID: id,
			Name: named(w.service.Clusters.Get(p.Cluster), p, &managed.Instance{ID: id}), Created: p.Retry}})
	}
	return out
}

// status returns the status of a node.
func (w *region) status(p *managed.Pool, n *node) string {
	row := nodeRow{}
	if noted := w.nodes.Get(n.Key); noted != nil {
		row = *noted
	}
	for _, one := range []struct {
		is     bool
		status string
	}{
		{n.failure != nil, "creation_error"},
		{document.Truth(p.Doc, "locked"), "locked"},
		{n.Deleting || p.Leaving[n.Key] != nil, "deleting"},
		{row.Reboot != nil, "rebooting"},
		{n.Booted.IsZero() && !n.Stopped, "creating"},
		{w.service.Nodes.Ready(p.MachineOf(n.Instance)), "ready"},
		{n.Stopped || row.Joined, "not_ready"},
		{w.started(n.Booted, lifeStart), "registering"},
	} {
		if one.is {
			return one.status
		}
	}
	return "starting"
}

// showNode returns a node as clients see it.
func (w *region) showNode(p *managed.Pool, n *node) document.Object {
	c := w.service.Clusters.Get(p.Cluster)
	status := w.status(p, n)
	out := document.Object{
		"region": c.Doc["region"], "id": n.ID, "cluster_id": c.Key, "created_at": at(n.Created), "updated_at": at(n.Created),
		"pool_id": idOf(p), "status": status, "conditions": document.Object{"Creating": "True", "Ready": "False"}, "name": n.Name,
		"public_ip_v4": "", "public_ip_v6": nil, "provider_id": "", "error_message": "",
	}
	switch {
	case n.failure != nil:
		out["error_message"] = n.failure.Message
		return out
	case status == "creating":
		return out
	}
	ready := "False"
	row := w.nodes.Get(n.Key)
	if w.service.Nodes.Ready(p.MachineOf(n.Instance)) || status == "deleting" && row != nil && row.Joined { // the last that was seen of it
		ready = "True"
	}
	out["conditions"] = document.Object{"DiskPressure": "False", "MemoryPressure": "False", "PIDPressure": "False", "Ready": ready}
	out["provider_id"] = w.providerID(n.Instance)
	if !document.Truth(p.Doc, "public_ip_disabled") {
		out["public_ip_v4"] = fmt.Sprintf("51.158.%d.%d", n.ID[0], n.ID[1])
	}
	return out
}

func getNode(x *exchange, w *region, p *managed.Pool, n *node) (any, error) {
	return w.showNode(p, n), nil
}

func listNodes(x *exchange, w *region, c *managed.Cluster) (any, error) {
	var all []document.Object
	for _, p := range w.service.PoolsOf(c) {
		for _, n := range w.nodesOf(p) {
			all = append(all, w.showNode(p, &n))
		}
	}
	return x.listed(w, "nodes", all)
}

// deleteNode drains a node and deletes it. The size of its pool falls by one.
func deleteNode(x *exchange, w *region, p *managed.Pool, n *node) (any, error) {
	c := w.service.Clusters.Get(p.Cluster)
	if status := w.status(p, n); status == "deleting" {
		return w.showNode(p, n), nil
	}
	if err := w.open(c, p, true); err != nil {
		return nil, err
	}
	if n.failure != nil {
		next := p.Spec
		next.Count--
		w.service.ChangePool(c, p, next)
		return w.showNode(p, n), nil
	}
	w.service.DeleteMachines(c, p, false, n.Instance)
	return w.showNode(p, n), nil
}

// rebootNode drains a node and reboots it.
func rebootNode(x *exchange, w *region, p *managed.Pool, n *node) (any, error) {
	if err := w.open(w.service.Clusters.Get(p.Cluster), p, false); err != nil {
		return nil, err
	}
	switch status := w.status(p, n); status {
	case "ready", "not_ready":
	default:
		return nil, transient("node", n.ID, status)
	}
	row := w.row(n.Key)
	row.Reboot, row.Restarted = w.service.Nodes.Leave(managed.Departures{}, p.MachineOf(n.Instance)), false
	w.nodes.Touch(n.Key)
	return w.showNode(p, n), nil
}

// createExternalNode registers a machine that is not Scaleway's with a pool of them, and returns what it needs to join.
func createExternalNode(x *exchange, w *region, c *managed.Cluster, p *managed.Pool) (any, error) {
	if p.Type != external {
		return nil, precondition("the pool has Scaleway's own machines")
	}
	if err := w.open(c, p, false); err != nil {
		return nil, err
	}
	if failure := w.service.Instances.Launch(p.NewInstance(), p.Zones); failure != nil {
		return nil, refuse(503, "out_of_stock", failure.Message, more("out_of_stock"))
	}
	next := p.Spec
	next.Count++
	w.service.ChangePool(c, p, next)
	all := w.service.Instances.Of(p.Key())
	is := all[len(all)-1]
	return document.Object{
		"id": is.ID, "name": is.Name, "cluster_url": w.showCluster(c)["cluster_url"], "pool_version": p.Version, "cluster_ca": string(c.CA),
		"kube_token": c.Token, "kubelet_config": "", "external_ip": is.Address, "containerd_version": "2.1.4", "runc_version": "1.3.1",
		"cni_plugins_version": "1.8.0", "node_labels": maps.Clone(p.Labels), "node_taints": listOf(p.Taints), "iam_token": "",
	}, nil
}

// row returns the row of a node.
func (w *region) row(key string) *nodeRow {
	if w.nodes.Get(key) == nil {
		w.nodes.Put(key, &nodeRow{})
	}
	return w.nodes.Get(key)
}

// tend notes which nodes have joined, goes on with reboots, and heals the pools that ask for it. It returns when something is due next.
func (w *region) tend() time.Time {
	for key := range w.nodes.All() {
		if w.service.Instances.Rows.Get(key) == nil {
			w.nodes.Delete(key)
		}
	}
	var next time.Time
	for _, p := range w.service.Pools.All() {
		for _, i := range w.service.Instances.Of(p.Key()) {
			if !i.Deleting && p.Leaving[i.Key] == nil && p.State != managed.Deleting {
				next = core.Earliest(next, tendNode(w, p, i))
			}
		}
	}
	return next
}

func tendNode(w *region, p *managed.Pool, i *managed.Instance) time.Time {
	heals, ready := document.Truth(p.Doc, "autohealing"), w.service.Nodes.Ready(p.MachineOf(i))
	row := w.nodes.Get(i.Key)
	if row != nil && row.Reboot != nil {
		if done := tendReboot(w, p, i, row, ready); !done {
			return w.Now.Add(w.Life(managed.Watch))
		}
	}
	if ready && (row == nil || *row != nodeRow{Joined: true}) {
		*w.row(i.Key) = nodeRow{Joined: true}
		w.nodes.Touch(i.Key)
	}
	switch {
	case !heals:
		return time.Time{}
	case !ready:
		heal(w, p, i)
	}
	return w.Now.Add(w.Life(healLook))
}

// tendReboot goes on with the reboot of a node, and reports whether it is done.
func tendReboot(w *region, p *managed.Pool, i *managed.Instance, row *nodeRow, ready bool) bool {
	w.nodes.Touch(i.Key)
	switch {
	case !row.Restarted:
		if w.service.Nodes.Drain(row.Reboot, p.Drain) == managed.Drained {
			w.service.Instances.Reboot(i)
			row.Restarted = true
		}
		return false
	case !ready:
		return false
	}
	w.service.Nodes.Uncordon(i.ID)
	return true
}

// heal reboots a node that is not Ready for long, and replaces it if that does not help.
func heal(w *region, p *managed.Pool, i *managed.Instance) {
	row := w.row(i.Key)
	if row.Since.IsZero() {
		row.Since = w.Now
		w.nodes.Touch(i.Key)
	}
	switch {
	case w.started(row.Since, healReplace):
		w.service.DeleteMachines(w.service.Clusters.Get(p.Cluster), p, true, i)
	case w.started(row.Since, healReboot) && !row.Rebooted:
		row.Rebooted = true
		w.nodes.Touch(i.Key)
		w.service.Instances.Reboot(i)
	}
}
