package container

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/container/nodeconfig"
	"github.com/muster-project/muster/sim/gcp/container/versions"
	"github.com/muster-project/muster/sim/gcp/project"
	"github.com/muster-project/muster/sim/managed"
)

// change is the result of an update of a node pool.
type change struct {
	doc     document.Object
	version string
	// recreate is true if nodes are recreated for it.
	recreate bool
}

// update changes a node pool.
func (w *nodePools) update(x *project.Call) (*project.Answer, error) {
	body, err := read(x, "UpdateNodePoolRequest")
	if err != nil {
		return nil, err
	}
	c, p, err := w.find.pool(x)
	if err != nil {
		return nil, err
	}
	op, err := w.renew(c, p, body)
	if err != nil {
		return nil, err
	}
	return w.views.begun(op), nil
}

// renew begins what an update of a node pool takes.
func (w *nodePools) renew(c *Cluster, p *Pool, body document.Object) (*operation, error) {
	if requested := document.Text(body, "etag"); requested != "" && requested != p.etag() {
		return nil, stale(requested, p.etag())
	}
	next, err := w.changed(c, p, body)
	if err != nil {
		return nil, err
	}
	if err := w.openFor(c, p, next, body); err != nil {
		return nil, err
	}
	op := w.life.begin(c, p, "UPGRADE_NODES")
	if next.version != p.Current {
		op.From, op.To = p.Current, next.version
	}
	before := p.Doc
	if next.recreate {
		w.regenerate(p, next)
	}
	p.Doc = next.doc
	p.Revision++
	w.move(c, p)
	w.models.mark(c, p, before)
	if next.recreate || body["nodeVersion"] != nil && (p.Current != p.Wanted || w.rolls.unfinished(c, p)) {
		w.rolls.begin(c, p)
	}
	return op, nil
}

// openFor refuses an update while an operation runs, and beside a blue-green upgrade that was paused, unless it is the one that resumes it:
// for the version that the pool is to have already.
func (w *nodePools) openFor(c *Cluster, p *Pool, next change, body document.Object) error {
	if p.paused() && !p.Roll.Back && body["nodeVersion"] != nil && !next.recreate && reflect.DeepEqual(next.doc, p.Doc) {
		return open(w.core, c)
	}
	return openPool(w.core, c, p)
}

// regenerate begins a generation of nodes, and remembers what the pool was before the first that is not complete.
func (w *nodePools) regenerate(p *Pool, next change) {
	if p.Former == nil {
		p.Former = &former{Doc: p.Doc, Wanted: p.Wanted, Generation: p.Generation}
	}
	p.Last++
	p.Generation, p.Wanted = p.Last, next.version
}

// changed checks an update.
func (w *nodePools) changed(c *Cluster, p *Pool, body document.Object) (change, error) {
	_, versioned := body["nodeVersion"]
	_, moved := body["locations"]
	if nodeconfig.Empty(body) {
		return change{}, badRequest("Must provide an update.")
	}
	out := change{version: p.Wanted}
	refusal := ""
	if versioned {
		out.version, refusal = versions.Node(document.Text(body, "nodeVersion"), c.Master)
	}
	out.doc, out.recreate = nodeconfig.Update(p.Doc, body)
	if moved {
		out.doc["locations"] = document.Items(body, "locations")
	}
	out.recreate = out.recreate || out.version != p.Wanted
	for _, check := range []func() string{
		func() string { return refusal },
		func() string {
			return versions.CheckNodes(out.version, c.Master, versioned && document.Truth(out.doc, "management.autoUpgrade"))
		},
		func() string { return nodeconfig.Check(out.doc, c.shared()) },
		func() string { return checkMachines(out.doc) },
	} {
		if refusal := check(); refusal != "" {
			return out, badRequest(refusal)
		}
	}
	return out, nil
}

// move adds groups for new zones, and empties those of zones that the node pool leaves.
func (w *nodePools) move(c *Cluster, p *Pool) {
	w.zones(c, p)
	none := 0
	for _, g := range p.Groups {
		if !slices.Contains(p.zones(), g.Zone) {
			g.Want = &none
		}
	}
}

// rollback leads a node pool back to what it was before an upgrade that was cancelled, has failed, or is blue-green and still runs.
func (w *nodePools) rollback(x *project.Call) (*project.Answer, error) {
	if _, err := read(x, "RollbackNodePoolUpgradeRequest"); err != nil {
		return nil, err
	}
	c, p, err := w.find.pool(x)
	if err != nil {
		return nil, err
	}
	if p.Op != "" && p.Roll != nil && p.Roll.Blue != nil && !p.Roll.Back && p.Roll.Blue.Phase != phaseDeleting {
		w.life.cancel(c, p)
	}
	if err := open(w.core, c); err != nil {
		return nil, err
	}
	op := w.life.begin(c, p, "UPGRADE_NODES")
	if p.Former != nil {
		w.rolls.back(c, p)
	}
	return w.views.begun(op), nil
}

// completeUpgrade ends the soak time of a blue-green upgrade.
func (w *nodePools) completeUpgrade(x *project.Call) (*project.Answer, error) {
	if _, err := read(x, "CompleteNodePoolUpgradeRequest"); err != nil {
		return nil, err
	}
	_, p, err := w.find.pool(x)
	if err != nil {
		return nil, err
	}
	if p.Op == "" || p.Roll == nil || p.Roll.Blue == nil {
		return nil, precondition("Node pool %s has no blue-green upgrade in progress.", p.Name)
	}
	p.Roll.Blue.Complete, p.Next = true, w.core.Now.Add(w.core.Life(managed.Watch))
	w.rows.touchPool(p)
	return project.OK(document.Object{}), nil
}

// upgrades returns the upgrades of a node pool to other versions, the newest first, with who began each: the operations do not tell.
func (w *nodePools) upgrades(x *project.Call) (*project.Answer, error) {
	c, p, err := w.find.pool(x)
	if err != nil {
		return nil, err
	}
	var all []*operation
	for _, op := range w.rows.operations.All() {
		if op.Cluster == c.key() && op.Pool == p.Name && op.To != "" && !w.core.Switches.On(HidesUpgrades) {
			all = append(all, op)
		}
	}
	slices.SortFunc(all, func(a, b *operation) int { return cmp.Or(b.Start.Compare(a.Start), cmp.Compare(a.Name, b.Name)) })
	var shown []any
	for _, op := range all {
		d := document.Object{"state": op.upgradeState(), "startType": "MANUAL", "startTime": stamp(op.Start), "initialVersion": op.From,
			"targetVersion": op.To}
		if op.Automatic {
			d["startType"] = "AUTOMATIC"
		}
		if !op.End.IsZero() {
			d["endTime"] = stamp(op.End)
		}
		shown = append(shown, d)
	}
	d := document.Object{"autoUpgradeStatus": []any{"ACTIVE"}}
	put(d, "upgradeDetails", shown)
	return project.OK(d), nil
}

// upgradeState returns how far an upgrade is, as GKE names it in the list of upgrades.
func (o *operation) upgradeState() string {
	switch {
	case o.Status != opDone:
		return "RUNNING"
	case o.Code == codeCancelled:
		return "CANCELED"
	case len(o.Conditions) > 0:
		return "FAILED"
	}
	return "SUCCEEDED"
}

// Settable are the fields that clients can set on a node pool that exists, by the operations that set them. The empty field is all that the
// operation sets.
func Settable() map[string][]string {
	return map[string][]string{
		poolNames + "update": {
			"", "nodeVersion", "imageType", "machineType", "diskType", "diskSizeGb", "labels", "taints", "tags", "resourceLabels", "locations",
			"linuxNodeConfig",
			"upgradeSettings",
		},
		poolNames + "setSize": {""}, poolNames + "setAutoscaling": {"", "autoscaling.minNodeCount", "autoscaling.maxNodeCount",
			"autoscaling.locationPolicy",
			"autoscaling.totalMinNodeCount", "autoscaling.totalMaxNodeCount"},
		poolNames + "setManagement": {"", "management.autoUpgrade", "management.autoRepair"},
	}
}
