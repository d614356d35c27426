package eks

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/aws/autoscaling"
	"github.com/muster-project/muster/sim/aws/shapes"
	"github.com/muster-project/muster/sim/aws/shapes/eks"
	"github.com/muster-project/muster/sim/managed"
)

// lifeChange is the time that a change of the configuration takes.
const lifeChange = 20 * time.Second

// updatable finds a node group that an update may begin for.
func (r *Updates) updatable(clusterName, name *string) (*Nodegroup, error) {
	n, err := r.nodegroups.FindNodegroup(clusterName, name)
	if err != nil {
		return nil, err
	}
	if s := n.Shape.Status; s != StatusActive && s != StatusDegraded {
		return nil, inUse("Nodegroup cannot be updated as it is currently not in Active State")
	}
	return n, nil
}

// newUpdate notes that an update has begun.
func (r *Updates) newUpdate(clusterName, group, kind string, params []eks.UpdateParam) *Update {
	number := r.Number()
	u := &Update{Cluster: clusterName, Nodegroup: group, Number: number, Update: eks.Update{
		Id: new(r.Seed.UUID("update", clusterName, group, number)), Type: kind, Status: updateInProgress, Params: params,
		CreatedAt: shapes.NewEpoch(r.Now), Errors: []eks.ErrorDetail{},
	}}
	r.Rows.Put(UpdateKey(clusterName, group, number), u)
	return u
}

// endUpdate ends an update, with what went wrong.
func (r *Updates) endUpdate(u *Update, failed []eks.ErrorDetail) {
	if u.Status != updateInProgress {
		return
	}
	u.Status = updateSuccessful
	if failed != nil {
		u.Status, u.Errors = updateFailed, failed
	}
	r.Rows.Touch(UpdateKey(u.Cluster, u.Nodegroup, u.Number))
}

func (r *Updates) updateNodegroupConfig(in *eks.UpdateNodegroupConfigInput) (*eks.UpdateNodegroupConfigOutput, error) {
	id, err := r.Once("UpdateNodegroupConfig", shapes.Str(in.ClientRequestToken), in, func() (string, error) {
		n, err := r.updatable(in.ClusterName, in.NodegroupName)
		if err != nil {
			return "", err
		}
		if err := r.checkConfig(n, in); err != nil {
			return "", err
		}
		u := r.newUpdate(n.Cluster(), n.Name(), configUpdate, configParams(in))
		u.Done = r.Now.Add(r.Life(lifeChange))
		n.Update, n.Change, n.Next = u.Number, in, u.Done
		n.Shape.Status, n.Shape.ModifiedAt = StatusUpdating, shapes.NewEpoch(r.Now)
		r.nodegroups.TouchNodegroup(n)
		return UpdateKey(n.Cluster(), n.Name(), u.Number), nil
	})
	if err != nil {
		return nil, eksToken(err)
	}
	return &eks.UpdateNodegroupConfigOutput{Update: r.showUpdate(id)}, nil
}

func (r *Updates) showUpdate(key string) *eks.Update {
	if u := r.Rows.Get(key); u != nil {
		return new(u.Update)
	}
	return nil
}

// checkConfig refuses what EKS refuses of a change.
func (r *Updates) checkConfig(n *Nodegroup, in *eks.UpdateNodegroupConfigInput) error {
	if in.Labels == nil && in.Taints == nil && in.ScalingConfig == nil && in.UpdateConfig == nil && in.NodeRepairConfig == nil {
		return badParameter("No changes were specified for the node group %s", n.Name())
	}
	if in.WarmPoolConfig != nil {
		return badParameter("Warm pools are not simulated.")
	}
	// The size that counts is the one that the group has now.
	next := changed(*r.nodegroups.ShowNodegroup(n), in)
	if in.ScalingConfig != nil {
		if err := checkScaling(next.ScalingConfig); err != nil {
			return err
		}
	}
	for _, err := range []error{checkUpdateConfig(in.UpdateConfig), checkLabels(next.Labels), checkTaints(next.Taints),
		checkRepair(in.NodeRepairConfig)} {
		if err != nil {
			return err
		}
	}
	return nil
}

// changed is the node group after a change.
func changed(n eks.Nodegroup, in *eks.UpdateNodegroupConfigInput) eks.Nodegroup {
	if s := in.ScalingConfig; s != nil {
		scaling := *n.ScalingConfig
		shapes.Overlay(&scaling, s)
		n.ScalingConfig = &scaling
	}
	if l := in.Labels; l != nil {
		labels := maps.Clone(n.Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		for _, k := range l.RemoveLabels {
			delete(labels, k)
		}
		maps.Copy(labels, l.AddOrUpdateLabels)
		n.Labels = labels
	}
	if t := in.Taints; t != nil {
		n.Taints = slices.DeleteFunc(slices.Clone(n.Taints), func(have eks.Taint) bool {
			return slices.ContainsFunc(slices.Concat(t.RemoveTaints, t.AddOrUpdateTaints), func(x eks.Taint) bool { return sameTaint(have, x) })
		})
		n.Taints = append(n.Taints, t.AddOrUpdateTaints...)
	}
	if in.UpdateConfig != nil {
		n.UpdateConfig = in.UpdateConfig
	}
	if in.NodeRepairConfig != nil {
		n.NodeRepairConfig = in.NodeRepairConfig
	}
	return n
}

// sameTaint reports taints of one key and effect.
func sameTaint(a, b eks.Taint) bool {
	return shapes.Str(a.Key) == shapes.Str(b.Key) && a.Effect == b.Effect
}

// configParams are the parameters that EKS notes of a change.
func configParams(in *eks.UpdateNodegroupConfigInput) []eks.UpdateParam {
	var out []eks.UpdateParam
	add := func(kind string, value any) {
		b, _ := json.Marshal(value) // plain values always encode
		out = append(out, eks.UpdateParam{Type: kind, Value: new(strings.Trim(string(b), `"`))})
	}
	if s := in.ScalingConfig; s != nil {
		for kind, v := range map[string]*int32{"MinSize": s.MinSize, "MaxSize": s.MaxSize, "DesiredSize": s.DesiredSize} {
			if v != nil {
				add(kind, *v)
			}
		}
	}
	if l := in.Labels; l != nil {
		add("LabelsToAdd", l.AddOrUpdateLabels)
		add("LabelsToRemove", l.RemoveLabels)
	}
	if t := in.Taints; t != nil {
		add("TaintsToAdd", t.AddOrUpdateTaints)
		add("TaintsToRemove", t.RemoveTaints)
	}
	if u := in.UpdateConfig; u != nil {
		add("MaxUnavailable", shapes.Val(u.MaxUnavailable))
		add("MaxUnavailablePercentage", shapes.Val(u.MaxUnavailablePercentage))
	}
	if c := in.NodeRepairConfig; c != nil {
		add("NodeRepairEnabled", shapes.Val(c.Enabled))
	}
	slices.SortFunc(out, func(a, b eks.UpdateParam) int { return strings.Compare(a.Type, b.Type) })
	return out
}

// advanceUpdate takes the update that is under way a step further.
func (r *Updates) advanceUpdate(n *Nodegroup, g *autoscaling.Group) {
	u := r.Rows.Get(UpdateKey(n.Cluster(), n.Name(), n.Update))
	switch {
	case u == nil:
		r.lifecycle.settle(n, StatusActive)
	case n.Roll != nil:
		r.rollouts.advanceRoll(n, g, u)
	case n.Change != nil && g == nil && n.Change.ScalingConfig != nil:
		r.finish(n, u, []eks.ErrorDetail{{ErrorCode: "Unknown", ErrorMessage: new(shapes.Str(missingGroup(n).Message)),
			ResourceIds: []string{n.Behind}}})
	case n.Change != nil:
		r.applyChange(n, g)
		r.finish(n, u, nil)
	}
}

// finish ends the update of a node group.
func (r *Updates) finish(n *Nodegroup, u *Update, failed []eks.ErrorDetail) {
	r.endUpdate(u, failed)
	maps.DeleteFunc(n.Drains, func(id string, d *managed.Departure) bool {
		return !d.Drained.IsZero() || r.instances.Rows.Get(id) == nil
	})
	n.Update, n.Change, n.Roll = 0, nil, nil
	r.lifecycle.settle(n, StatusActive)
}

// applyChange lets a change of the configuration take effect: on the group, and on the nodes that are there.
func (r *Updates) applyChange(n *Nodegroup, g *autoscaling.Group) {
	was := n.Shape
	n.Shape = changed(was, n.Change)
	if s := n.Shape.ScalingConfig; n.Change.ScalingConfig != nil && g != nil {
		desired := *g.Spec.DesiredCapacity
		if d := n.Change.ScalingConfig.DesiredSize; d != nil {
			desired = *d
		}
		r.backing.resizeGroup(g, *s.MinSize, max(*s.MinSize, min(*s.MaxSize, desired)), *s.MaxSize)
	}
	if g != nil && (n.Change.Labels != nil || n.Change.Taints != nil) {
		change := managed.Remarked(n.Shape.Labels, was.Labels, taintsOf(n.Shape.Taints), taintsOf(was.Taints))
		for _, m := range r.members.MembersOf(g) {
			r.nodes.Mark(m.Instance, change)
		}
	}
}
