package containerservice

import (
	"net/http"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/document"
)

func (w *agentPools) get(x *arm.Call) (*arm.Answer, error) {
	c, p, err := w.find.pool(x)
	if err != nil {
		return nil, err
	}
	return arm.OK(w.views.pool(c, p)), nil
}

func (w *agentPools) list(x *arm.Call) (*arm.Answer, error) {
	c, err := w.find.cluster(x)
	if err != nil {
		return nil, err
	}
	var out []any
	for _, p := range w.rows.poolsOf(c) {
		out = append(out, w.views.pool(c, p))
	}
	return w.core.Paged(x, out)
}

// put creates a pool, or changes one.
func (w *agentPools) put(x *arm.Call) (*arm.Answer, error) {
	body, err := arm.ReadBody(x, bodies, "AgentPool")
	if err != nil {
		return nil, err
	}
	changes, _ := document.WithoutNulls(document.Under(body, "properties")).(document.Object)
	if changes == nil {
		changes = document.Object{}
	}
	c, err := w.find.cluster(x)
	if err != nil {
		return nil, err
	}
	p := w.rows.pools.Get(poolKey(c.key(), x.Vars["pool"]))
	if err := flatten(p, changes, x.Query.Get("api-version")); err != nil {
		return nil, err
	}
	if err := w.open(c, p); err != nil {
		return nil, err
	}
	if err := conditions(w.core, x, etagOf(p)); err != nil {
		return nil, err
	}
	if p != nil {
		return w.update(x, c, p, changes)
	}
	p, err = w.create(c, strings.ToLower(x.Vars["pool"]), changes)
	if err != nil {
		return nil, err
	}
	op := w.life.beginPool(c, p, stateCreating)
	return &arm.Answer{Status: http.StatusCreated, Body: w.views.pool(c, p), Op: &op.Operation}, nil
}

// Creates reports whether a request about a pool creates it.
func (w *Service) Creates(x *arm.Call) bool {
	return x.Vars["pool"] != "" && w.rows.pools.Get(poolKey(clusterKey(x.Vars["sub"], x.Vars["rg"], x.Vars["cluster"]), x.Vars["pool"])) == nil
}

func etagOf(p *Pool) string {
	if p == nil {
		return ""
	}
	return arm.ETag(p.Version)
}

// open refuses an operation on a pool while another one runs, on it or on its cluster; p may be nil.
func (w *agentPools) open(c *Cluster, p *Pool) error {
	switch {
	case c.Op != "":
		return clusterBusy(c)
	case p != nil && p.Op != "":
		return poolBusy(p)
	case c.Power == powerStopped:
		return refuse(400, "OperationNotAllowed", "Operation is not allowed: the managed cluster %s is stopped, please start it first.", c.Name)
	}
	return nil
}

func clusterBusy(c *Cluster) error {
	return refuse(409, "OperationNotAllowed", "Operation is not allowed: Another operation (%s) is in progress, please wait for it to "+
		"finish before starting a new operation. "+
		"See https://aka.ms/aks-pending-operation for more details", c.State)
}

func poolBusy(p *Pool) error {
	return refuse(409, "OperationNotAllowed", "Operation is not allowed: Another agentpool operation (%s - %s) is in progress, please wait "+
		"for it to finish before starting a new "+
		"operation. See https://aka.ms/aks-pending-operation for more details", p.Name, p.State)
}

// create checks a new pool and puts it into its cluster.
func (w *agentPools) create(c *Cluster, name string, d document.Object) (*Pool, error) {
	poolDefaults(d)
	if err := checkPool(name, d); err != nil {
		return nil, err
	}
	if len(w.rows.poolsOf(c)) >= maxPools {
		return nil, refuse(400, "TooManyAgentPools", "The cluster already has %d agent pools.", maxPools)
	}
	if err := checkPlace(name, d, c.Location); err != nil {
		return nil, err
	}
	document.Preset(d, "orchestratorVersion", c.Goal)
	version := resolved(document.Text(d, "orchestratorVersion"))
	if version == "" {
		return nil, unsupported(document.Text(d, "orchestratorVersion"), c.Location)
	}
	if err := checkSkew(version, c.Goal); err != nil {
		return nil, err
	}
	addOwn(w.core, d)
	p := &Pool{Cluster: c.key(), Name: name, Doc: d, Power: powerRunning, Current: version}
	p.Set = "aks-" + name + "-" + digits(w.core.Seed.Hex(8, "pool", c.UID)) + p.suffix()
	p.Image = imageName(p, latest(w.releases))
	w.rows.pools.Put(p.key(), p)
	return p, nil
}

// digits makes the eight digits of a cluster's scale sets of a hexadecimal number.
func digits(hex string) string {
	return strings.Map(func(r rune) rune { return '0' + r%10 }, hex)
}

func unsupported(version, location string) error {
	return refuse(400, "K8sVersionNotSupported", "Managed cluster is on version %s, which is not supported in location %s. "+
		"Please use az aks get-versions to get the supported version list in this region.", version, location)
}

// update changes a pool. What is not given stays as it is.
func (w *agentPools) update(x *arm.Call, c *Cluster, p *Pool, changes document.Object) (*arm.Answer, error) {
	next, err := w.changed(c, p, changes, x.Query.Get("api-version"))
	if err != nil {
		return nil, err
	}
	op := w.change(c, p, next)
	return &arm.Answer{Status: http.StatusOK, Body: w.views.pool(c, p), Op: &op.Operation}, nil
}

// changed returns the validated properties of a pool after a change.
func (w *agentPools) changed(c *Cluster, p *Pool, changes document.Object, version string) (document.Object, error) {
	next := merged(p, changes)
	if err := checkFixed(p.Doc, next, version); err != nil {
		return nil, err
	}
	if err := w.checkResize(p, next); err != nil {
		return nil, err
	}
	if err := checkPool(p.Name, next); err != nil {
		return nil, err
	}
	keepOwn(w.core, next, changes)
	if p.system() && document.Text(next, "mode") != modeSystem && w.systems(c) < 2 {
		return nil, refuse(400, "InvalidParameter", "Must define at least one system pool.")
	}
	requested := document.Text(next, "orchestratorVersion")
	to := resolved(requested)
	switch {
	case to == "":
		return nil, unsupported(requested, c.Location)
	case requested == document.Text(p.Doc, "orchestratorVersion"):
		return next, nil
	}
	if err := checkSkew(to, c.Goal); err != nil {
		return nil, err
	}
	return next, checkUpgrade(p.Current, to)
}

// merged puts what was given over what a pool is. Labels and tags are given as a whole, bounds go with the autoscaler, and a count that is
// not given is brought within them. The count of a stopped pool, which is shown as 0, stays where 0 is given.
func merged(p *Pool, changes document.Object) document.Object {
	next := document.Copied(p.Doc)
	for _, whole := range []string{"nodeLabels", "tags"} {
		if _, ok := changes[whole]; ok {
			delete(next, whole)
		}
	}
	if on, ok := changes["enableAutoScaling"].(bool); ok && !on {
		delete(next, "minCount")
		delete(next, "maxCount")
	}
	document.Merge(next, changes)
	if count, is := document.Number(changes, "count"); is && count == 0 && p.stopped() {
		next["count"] = p.Doc["count"]
	}
	if lowest, on := document.Number(next, "minCount"); on && changes["count"] == nil {
		highest, _ := document.Number(next, "maxCount")
		next["count"] = float64(min(max(p.count(), lowest), max(highest, lowest)))
	}
	return next
}

// systems counts the System pools of a cluster that stay.
func (w *agentPools) systems(c *Cluster) int {
	n := 0
	for _, p := range w.rows.poolsOf(c) {
		if p.system() && p.State != stateDeleting {
			n++
		}
	}
	return n
}

// change begins what a change of a pool takes.
func (w *agentPools) change(c *Cluster, p *Pool, next document.Object) *operation {
	before := p.Doc
	power := document.Text(next, "powerState.code")
	to := p.Current
	if document.Text(next, "orchestratorVersion") != document.Text(before, "orchestratorVersion") {
		to = resolved(document.Text(next, "orchestratorVersion"))
	}
	state := w.changing(c, p, next, to)
	p.Doc = next
	if to != p.Current {
		p.Current, p.Image = to, imageName(p, latest(w.releases))
	}
	if power == powerRunning {
		p.Power = powerRunning
	}
	w.models.mark(c, p, before)
	if keepsScaledIn(before) && !keepsScaledIn(next) {
		deleteDeallocated(w.compute, setKey(c, p))
	}
	return w.life.beginPool(c, p, state)
}

// changing returns the state of a pool while it is changed, and brought to a version.
func (w *agentPools) changing(c *Cluster, p *Pool, next document.Object, to string) string {
	power := document.Text(next, "powerState.code")
	switch {
	case power == powerStopped && p.Power == powerRunning:
		return stateStopping
	case power == powerRunning && p.Power == powerStopped:
		return stateStarting
	case to != p.Current || !document.Same(p.Doc["vmSize"], next["vmSize"]):
		return stateUpgrading
	case !document.Same(p.Doc["count"], next["count"]):
		return stateScaling
	case document.Same(p.Doc, next) && !w.core.Switches.On(ResumesNot) && w.unfinished(c, p):
		return stateUpgrading
	}
	return stateUpdating
}

// unfinished reports whether a pool has nodes of another version or size than it should have, as an upgrade leaves them that failed or was
// aborted. A request that asks for nothing else resumes the upgrade.
func (w *agentPools) unfinished(c *Cluster, p *Pool) bool {
	return slices.ContainsFunc(w.compute.Nodes(setKey(c, p)), func(n compute.Node) bool {
		return !n.Deleting && !n.Deallocated && (versionOf(n) != p.Current || n.Size != document.Text(p.Doc, "vmSize"))
	})
}

// drop deletes a pool.
func (w *agentPools) drop(x *arm.Call) (*arm.Answer, error) {
	c, err := w.find.cluster(x)
	if err != nil {
		return nil, err
	}
	p := w.rows.pools.Get(poolKey(c.key(), x.Vars["pool"]))
	switch {
	case p == nil:
		return deletedAbsent(w.core, x.Vars["pool"])
	case p.State == stateDeleting && w.rows.operations.Get(p.Op) != nil:
		return &arm.Answer{Status: http.StatusAccepted, Op: &w.rows.operations.Get(p.Op).Operation}, nil
	}
	if err := w.deletable(c, p); err != nil {
		return nil, err
	}
	op := w.life.beginPool(c, p, stateDeleting)
	return &arm.Answer{Status: http.StatusAccepted, Op: &op.Operation}, nil
}

// deletable refuses to delete a pool that is being changed, or that its cluster can't be without.
func (w *agentPools) deletable(c *Cluster, p *Pool) error {
	if err := w.open(c, p); err != nil {
		return err
	}
	if p.system() && w.systems(c) < 2 {
		return refuse(400, "OperationNotAllowed", "There has to be at least one system agent pool.")
	}
	return nil
}

// upgradeImage gives all nodes of a pool the newest node image.
func (w *agentPools) upgradeImage(x *arm.Call) (*arm.Answer, error) {
	c, p, err := w.find.pool(x)
	if err != nil {
		return nil, err
	}
	if err := w.open(c, p); err != nil {
		return nil, err
	}
	op := w.renewImage(c, p)
	return &arm.Answer{Status: http.StatusAccepted, Body: w.views.pool(c, p), Op: &op.Operation}, nil
}

// renewImage begins to replace the nodes of a pool at rest by those of the newest node image.
func (w *agentPools) renewImage(c *Cluster, p *Pool) *operation {
	p.Image = imageName(p, latest(w.releases))
	return w.life.beginPool(c, p, stateImage)
}

// deleteMachines deletes chosen machines, and the count falls by as many.
func (w *agentPools) deleteMachines(x *arm.Call) (*arm.Answer, error) {
	body, err := arm.ReadBody(x, bodies, "AgentPoolDeleteMachinesParameter")
	if err != nil {
		return nil, err
	}
	c, p, err := w.find.pool(x)
	if err != nil {
		return nil, err
	}
	op, err := w.takeMachines(c, p, document.Texts(body, "machineNames"))
	if err != nil {
		return nil, err
	}
	return &arm.Answer{Status: http.StatusAccepted, Op: &op.Operation}, nil
}

// takeMachines begins to delete machines by the names of their nodes.
func (w *agentPools) takeMachines(c *Cluster, p *Pool, names []string) (*operation, error) {
	if err := w.open(c, p); err != nil {
		return nil, err
	}
	known := map[string]compute.Node{}
	for _, n := range w.compute.Nodes(setKey(c, p)) {
		if !n.Deleting {
			known[n.Computer] = n
		}
	}
	for _, name := range names {
		if _, ok := known[strings.ToLower(name)]; !ok {
			return nil, refuse(400, "InvalidParameter", "Machine %s is not found in agent pool %s.", name, p.Name)
		}
	}
	minimum := 0
	if p.system() {
		minimum = 1
	}
	if len(names) == 0 || p.count()-len(names) < minimum {
		return nil, refuse(400, "InvalidParameter", "The machines to delete must be at least one and leave %d in agent pool %s.", minimum, p.Name)
	}
	op := w.life.beginPool(c, p, stateDeletingMachines)
	for _, name := range names {
		w.nodes.Leave(p.Leaving, machineOf(p, known[strings.ToLower(name)]))
	}
	p.Doc["count"] = float64(p.count() - len(p.Leaving))
	return op, nil
}

// abort ends the operation that runs on a pool.
func (w *agentPools) abort(x *arm.Call) (*arm.Answer, error) {
	c, p, err := w.find.pool(x)
	if err != nil {
		return nil, err
	}
	if p.Op == "" || p.State == stateDeleting {
		return nil, refuse(400, "OperationNotAllowed", "Operation is not allowed: there is no operation of agent pool %s that can be aborted.",
			p.Name)
	}
	before := w.views.pool(c, p)
	w.life.cancel(c, p)
	op := w.life.begin(c, p.Name, stateCanceled)
	w.life.end(op.ID, arm.Succeeded, nil)
	return &arm.Answer{Status: http.StatusAccepted, Body: before, Op: &op.Operation}, nil
}
