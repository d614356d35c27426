package containerservice

import (
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

func (w *managedClusters) get(x *arm.Call) (*arm.Answer, error) {
	c, err := w.find.cluster(x)
	if err != nil {
		return nil, err
	}
	return arm.OK(w.views.cluster(c)), nil
}

// list lists the clusters of a group or of a subscription.
func (w *managedClusters) list(x *arm.Call) (*arm.Answer, error) {
	var out []any
	for _, c := range w.rows.clusters.All() {
		if strings.EqualFold(c.Sub, x.Vars["sub"]) && (x.Vars["rg"] == "" || strings.EqualFold(c.Group, x.Vars["rg"])) {
			out = append(out, w.views.cluster(c))
		}
	}
	return w.core.Paged(x, out)
}

// put creates a cluster with the pools that it lists, or changes one.
func (w *managedClusters) put(x *arm.Call) (*arm.Answer, error) {
	body, err := arm.ReadBody(x, bodies, "ManagedCluster")
	if err != nil {
		return nil, err
	}
	document.WithoutNulls(body)
	document.Preset(body, "properties", document.Object{})
	profiles := document.Objects(body, "properties.agentPoolProfiles")
	delete(document.Under(body, "properties"), "agentPoolProfiles")
	c := w.rows.clusters.Get(clusterKey(x.Vars["sub"], x.Vars["rg"], x.Vars["cluster"]))
	for _, profile := range profiles {
		if err := flatten(w.rows.profiled(c, profile), profile, x.Query.Get("api-version")); err != nil {
			return nil, err
		}
	}
	if c != nil {
		return w.update(x, c, body, profiles)
	}
	if err := conditions(w.core, x, ""); err != nil {
		return nil, err
	}
	c, err = w.create(x.Vars["sub"], w.core.GroupName(x.Vars["sub"], x.Vars["rg"]), x.Vars["cluster"], body, profiles)
	if err != nil {
		return nil, err
	}
	op := w.begin(c)
	return &arm.Answer{Status: http.StatusCreated, Body: w.views.cluster(c), Op: &op.Operation}, nil
}

// begin begins to create a cluster and its pools.
func (w *managedClusters) begin(c *Cluster) *operation {
	op := w.life.beginCluster(c, stateCreating, lifeCreate)
	for _, p := range w.rows.poolsOf(c) {
		w.life.beginPool(c, p, stateCreating)
	}
	return op
}

// create checks a new cluster and its pools and keeps them.
func (w *managedClusters) create(sub, group, name string, d document.Object, profiles []document.Object) (*Cluster, error) {
	location := arm.LocationOf(document.Text(d, "location"))
	version := resolved(document.Text(d, "properties.kubernetesVersion"))
	switch {
	case !clusterName.MatchString(name):
		return nil, invalid("name", "The value of parameter name is invalid: '%s'. Please see https://aka.ms/aks-naming-rules for more details.",
			name)
	case location == nil:
		return nil, arm.Refuse(400, "LocationRequired", "The location property is required for this definition.")
	case version == "":
		return nil, unsupported(document.Text(d, "properties.kubernetesVersion"), location.Name)
	case len(profiles) == 0:
		return nil, invalid("agentPoolProfiles", "Required parameter agentPoolProfiles is missing (null).")
	}
	c := &Cluster{
		ID: arm.ResourceID(sub, group, clusterKind, name), Sub: sub, Group: group, Name: name, Location: location.Name, Doc: d,
		Power:   powerRunning,
		Current: version, Goal: version, UID: w.core.UUID("cluster"), Created: w.core.Now,
	}
	clusterDefaults(c)
	for _, profile := range profiles {
		poolName := document.Text(profile, "name")
		delete(profile, "name")
		if _, err := w.agentPools.create(c, poolName, profile); err != nil {
			return nil, w.withdraw(c, err)
		}
	}
	if w.agentPools.systems(c) == 0 {
		return nil, w.withdraw(c, refuse(400, "InvalidParameter", "Must define at least one system pool."))
	}
	w.core.PutResource("/subscriptions/"+sub+"/resourceGroups/"+c.nodeGroup(), document.Object{
		"location": c.Location, "managedBy": c.ID, "tags": document.Object{"aks-managed-cluster-name": name, "aks-managed-cluster-rg": group},
		"properties": document.Object{"provisioningState": stateSucceeded},
	})
	w.rows.clusters.Put(c.key(), c)
	return c, nil
}

// withdraw forgets the pools of a cluster that is refused.
func (w *managedClusters) withdraw(c *Cluster, err error) error {
	for _, p := range w.rows.poolsOf(c) {
		w.rows.pools.Delete(p.key())
	}
	return err
}

// clusterDefaults puts there what a new cluster has where it was not said.
func clusterDefaults(c *Cluster) {
	for path, v := range map[string]any{
		"properties.kubernetesVersion": c.Goal, "properties.dnsPrefix": c.Name, "properties.enableRBAC": true,
		"properties.supportPlan":                             "KubernetesOfficial",
		"properties.autoUpgradeProfile.nodeOSUpgradeChannel": "NodeImage",
		"properties.nodeResourceGroup":                       "MC_" + c.Group + "_" + c.Name + "_" + c.Location,
		"properties.networkProfile.networkPlugin":            "azure", "properties.networkProfile.loadBalancerSku": "standard",
		"properties.servicePrincipalProfile.clientId": "msi", "sku": document.Object{"name": "Base", "tier": "Free"}, "kind": "Base",
	} {
		document.Preset(c.Doc, path, v)
	}
}

// open refuses an operation on a cluster while another one runs, on it or on one of its pools.
func (w *managedClusters) open(c *Cluster) error {
	if c.Op != "" {
		return clusterBusy(c)
	}
	for _, p := range w.rows.poolsOf(c) {
		if p.Op != "" {
			return poolBusy(p)
		}
	}
	return nil
}

// update changes a cluster, and the pools that it lists as far as they differ.
func (w *managedClusters) update(x *arm.Call, c *Cluster, body document.Object, profiles []document.Object) (*arm.Answer, error) {
	if err := w.open(c); err != nil {
		return nil, err
	}
	if err := conditions(w.core, x, arm.ETag(c.Version)); err != nil {
		return nil, err
	}
	op, err := w.change(c, body, profiles, x.Query.Get("api-version"))
	if err != nil {
		return nil, err
	}
	return &arm.Answer{Status: http.StatusOK, Body: w.views.cluster(c), Op: &op.Operation}, nil
}

// change checks and begins a change of a cluster at rest, in a version of the API.
func (w *managedClusters) change(c *Cluster, body document.Object, profiles []document.Object, apiVersion string) (*operation, error) {
	if err := checkCluster(c, body); err != nil {
		return nil, err
	}
	goal, err := goalOf(c, body)
	if err != nil {
		return nil, err
	}
	state, life := stateUpdating, lifeChange
	if goal != c.Goal {
		state, life = stateUpgrading, lifePlane
	}
	before := c.Goal
	c.Goal = goal // the pools' versions are held against the one that the control plane gets first
	changes, err := w.poolChanges(c, profiles, apiVersion)
	if err != nil {
		c.Goal = before
		return nil, err
	}
	if _, found := body["tags"]; found {
		delete(c.Doc, "tags")
	}
	document.Merge(c.Doc, body)
	if c.State == stateFailed {
		w.again(c, changes)
	}
	op := w.life.beginCluster(c, state, life)
	for _, p := range w.rows.poolsOf(c) {
		if next, changed := changes[p]; changed {
			w.agentPools.change(c, p, next)
			p.Next = c.Until
		}
	}
	return op, nil
}

// again adds the failed pools of a cluster to the changes: a request for a cluster that failed carries out what failed once more.
func (w *managedClusters) again(c *Cluster, changes map[*Pool]document.Object) {
	for _, p := range w.rows.poolsOf(c) {
		if _, changed := changes[p]; !changed && p.State == stateFailed {
			changes[p] = document.Copied(p.Doc)
		}
	}
}

// checkCluster refuses to change what can't be changed on a cluster.
func checkCluster(c *Cluster, body document.Object) error {
	if place := document.Text(body, "location"); place != "" && !arm.SameLocation(place, c.Location) {
		return arm.Refuse(409, "InvalidResourceLocation", "The resource '%s' already exists in location '%s' in resource group '%s'.",
			c.Name, c.Location, c.Group)
	}
	for _, fixed := range []string{"properties.nodeResourceGroup", "properties.dnsPrefix"} {
		if v := document.Text(body, fixed); v != "" && v != document.Text(c.Doc, fixed) {
			return refuse(400, "PropertyChangeNotAllowed", "Changing property '%s' is not allowed.", fixed)
		}
	}
	return nil
}

// goalOf returns the version that a change leads the control plane to.
func goalOf(c *Cluster, body document.Object) (string, error) {
	v := document.Text(body, "properties.kubernetesVersion")
	if v == "" || v == document.Text(c.Doc, "properties.kubernetesVersion") {
		return c.Goal, nil
	}
	goal := resolved(v)
	if goal == "" {
		return "", unsupported(v, c.Location)
	}
	return goal, checkUpgrade(c.Current, goal)
}

// poolChanges are the pools that a change of their cluster changes, and what they are then.
func (w *managedClusters) poolChanges(c *Cluster, profiles []document.Object, version string) (map[*Pool]document.Object, error) {
	out := map[*Pool]document.Object{}
	for _, profile := range profiles {
		p := w.rows.pools.Get(poolKey(c.key(), document.Text(profile, "name")))
		if p == nil {
			return nil, refuse(400, "BadRequest", "A new agent pool was introduced. Adding agent pools to an existing cluster is not allowed "+
				"through managed cluster operations. "+
				"For agent pool specific change, please use per agent pool operations: https://aka.ms/agent-pool-rest-api")
		}
		delete(profile, "name")
		next, err := w.agentPools.changed(c, p, profile, version)
		if err != nil {
			return nil, err
		}
		if !document.Same(p.Doc, next) {
			out[p] = next
		}
	}
	return out, nil
}

// patch changes the tags of a cluster.
func (w *managedClusters) patch(x *arm.Call) (*arm.Answer, error) {
	body, err := arm.ReadBody(x, bodies, "TagsObject")
	if err != nil {
		return nil, err
	}
	c, err := w.find.cluster(x)
	if err != nil {
		return nil, err
	}
	if err := w.open(c); err != nil {
		return nil, err
	}
	if err := arm.CheckTags(body); err != nil {
		return nil, err
	}
	c.Doc["tags"] = document.OfStrings(document.Pairs(body, "tags"))
	op := w.life.beginCluster(c, stateUpdating, lifeChange)
	return &arm.Answer{Status: http.StatusOK, Body: w.views.cluster(c), Op: &op.Operation}, nil
}

// drop deletes a cluster with its pools. It is accepted whatever runs.
func (w *managedClusters) drop(x *arm.Call) (*arm.Answer, error) {
	c := w.rows.clusters.Get(clusterKey(x.Vars["sub"], x.Vars["rg"], x.Vars["cluster"]))
	if c == nil {
		return &arm.Answer{Status: http.StatusNoContent}, nil
	}
	if op := w.rows.operations.Get(c.Op); op != nil && c.State == stateDeleting {
		return &arm.Answer{Status: http.StatusAccepted, Op: &op.Operation}, nil
	}
	return &arm.Answer{Status: http.StatusAccepted, Op: &w.life.deleteCluster(c).Operation}, nil
}

func (w *managedClusters) start(x *arm.Call) (*arm.Answer, error) { return w.power(x, powerRunning) }

func (w *managedClusters) stop(x *arm.Call) (*arm.Answer, error) { return w.power(x, powerStopped) }

// power starts or stops a cluster with all its pools.
func (w *managedClusters) power(x *arm.Call, want string) (*arm.Answer, error) {
	c, err := w.find.cluster(x)
	if err != nil {
		return nil, err
	}
	if err := w.open(c); err != nil {
		return nil, err
	}
	return &arm.Answer{Status: http.StatusAccepted, Op: &w.life.switchCluster(c, want).Operation}, nil
}

// abort ends the operation that runs on a cluster.
func (w *managedClusters) abort(x *arm.Call) (*arm.Answer, error) {
	c, err := w.find.cluster(x)
	if err != nil {
		return nil, err
	}
	if c.Op == "" || c.State == stateDeleting {
		return nil, refuse(400, "OperationNotAllowed", "Operation is not allowed: there is no operation of managed cluster %s that can be "+
			"aborted.", c.Name)
	}
	w.life.cancelCluster(c)
	return &arm.Answer{Status: http.StatusNoContent}, nil
}

func (w *managedClusters) userCredential(x *arm.Call) (*arm.Answer, error) {
	return w.credential(x, "clusterUser")
}

func (w *managedClusters) adminCredential(x *arm.Call) (*arm.Answer, error) {
	return w.credential(x, "clusterAdmin")
}

func (w *managedClusters) credential(x *arm.Call, name string) (*arm.Answer, error) {
	c, err := w.find.cluster(x)
	if err != nil {
		return nil, err
	}
	if len(c.Kubeconfig) == 0 {
		return nil, refuse(409, "OperationNotAllowed", "The credentials of managed cluster %s are not there yet.", c.Name)
	}
	return arm.OK(document.Object{"kubeconfigs": []any{document.Object{"name": name,
			"value": base64.StdEncoding.EncodeToString(c.Kubeconfig)}}}),
		nil
}

func (w *managedClusters) upgradeProfile(x *arm.Call) (*arm.Answer, error) {
	c, err := w.find.cluster(x)
	if err != nil {
		return nil, err
	}
	pools := []any{}
	for _, p := range w.rows.poolsOf(c) {
		pools = append(pools, document.Object{
			"name": p.Name, "osType": document.Text(p.Doc, "osType"), "kubernetesVersion": w.views.lowest(c, p),
			"upgrades": upgradesFrom(w.views.lowest(c, p), c.Current),
		})
	}
	return arm.OK(document.Object{"id": w.views.id(c) + "/upgradeprofiles/default", "name": "default",
		"type": clusterKind + "/upgradeprofiles",
		"properties": document.Object{
			"controlPlaneProfile": document.Object{"kubernetesVersion": c.Current, "osType": "Linux", "upgrades": upgradesFrom(c.Current, "")},
			"agentPoolProfiles":   pools,
		}}), nil
}

func (w *managedClusters) kubernetesVersions(*arm.Call) (*arm.Answer, error) {
	values := []any{}
	for minor := firstMinor; minor <= lastMinor; minor++ {
		all := document.Object{}
		for _, v := range patches(minor) {
			all[v] = document.Object{"upgrades": document.List(managed.Upgrades(offered(), v, ""))}
		}
		version := strings.TrimSuffix(patches(minor)[0], ".0")
		values = append(values, document.Object{"version": version, "isDefault": minor == defaultMinor, "patchVersions": all})
	}
	return arm.OK(document.Object{"values": values}), nil
}
