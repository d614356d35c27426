package instancegroup

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
)

// writer begins the steps of one pool. What it needs to know it has read first.
type writer struct{ reader }

// steps maps each step to the method that begins it.
var steps = driverkit.Steps[writer]{
	pool.Adopt:           writer.adopt,
	pool.CreateGroup:     writer.createGroup,
	pool.PutTemplate:     writer.putTemplate,
	pool.UpdateGroup:     writer.updateGroup,
	pool.Resize:          writer.resize,
	pool.Remove:          writer.remove,
	pool.Apply:           writer.apply,
	pool.PruneTemplates:  writer.prune,
	pool.DeleteGroup:     writer.deleteGroup,
	pool.DeleteTemplates: writer.deleteTemplates,
}

// withField names the object's field that a refusal is about, where Compute Engine names that of the request.
func withField(err error) error {
	return driverkit.WithField(err, func(_ *cloud.Error, part string) string { return fieldOf(part) })
}

// there returns the group, or a conflict if it does not exist.
func (w writer) there() (*compute.InstanceGroupManager, error) {
	return driverkit.Existing(w.memory.group.is, "managed instance group "+w.t.group)
}

// ended returns the error of a request: its own, or that of an operation that has failed at once. Otherwise it remembers the operation.
func (w writer) ended(method string, op *compute.Operation, err error) error {
	if err != nil {
		return w.c.Refusal(err)
	}
	if failed := session.Failed(op); failed != nil {
		return failed
	}
	w.memory.began(method, w.t.groupID(), op)
	return nil
}

// createGroup creates the group, unless its name is taken.
func (w writer) createGroup(ctx context.Context, s pool.Step) error {
	request := w.create(s.Size, s.Template)
	w.memory.touched()
	var err error
	if w.t.place.zonal() {
		op, refused := w.c.Compute.InstanceGroupManagers.Insert(w.t.project, w.t.place.location, request).Context(ctx).Do()
		err = w.ended(methodCreate, op, refused)
	} else {
		op, refused := w.c.Compute.RegionInstanceGroupManagers.Insert(w.t.project, w.t.place.location, request).Context(ctx).Do()
		err = w.ended(methodCreate, op, refused)
	}
	if session.Exists(err) {
		return driverkit.Confirm(err, w.readAgain(ctx), func() bool {
			is := w.memory.group.is
			return is != nil && w.t.owns(labelsOf(is))
		})
	}
	if session.Absent(err) {
		// The template is gone: the next look shows it.
		return cloud.AsConflict(err)
	}
	if driverkit.MayHaveHappened(err) {
		w.memory.made, w.memory.deleted = w.now, time.Time{}
	}
	return err
}

// adopt writes the owner's labels to the group. Its template can't be given any: it stays what the group launches from until another is
// wanted.
func (w writer) adopt(ctx context.Context, _ pool.Step) error {
	group := w.memory.group
	if group.is != nil && w.t.owns(labelsOf(group.is)) {
		return nil
	}
	if err := w.t.ownership(group).Adoptable(w.unowned()); err != nil {
		return err
	}
	return w.patch(ctx, &compute.InstanceGroupManager{AllInstancesConfig: labelPatch(template.OwnerLabels(w.t.Owner), nil)})
}

// labelPatch sets and removes labels of the group.
func labelPatch(set map[string]string, removed []string) *compute.InstanceGroupManagerAllInstancesConfig {
	properties := &compute.InstancePropertiesPatch{Labels: set}
	for _, key := range removed {
		properties.NullFields = append(properties.NullFields, "Labels."+key)
	}
	if len(removed) > 0 {
		properties.ForceSendFields = []string{"Labels"}
	}
	return &compute.InstanceGroupManagerAllInstancesConfig{Properties: properties}
}

// patch changes the group as it was read: Compute Engine refuses if it has changed since.
func (w writer) patch(ctx context.Context, change *compute.InstanceGroupManager) error {
	change.Fingerprint = w.memory.group.is.Fingerprint
	w.memory.touched()
	var err error
	if w.t.place.zonal() {
		op, refused := w.c.Compute.InstanceGroupManagers.Patch(w.t.project, w.t.place.location, w.t.group, change).Context(ctx).Do()
		err = w.ended(methodChange, op, refused)
	} else {
		op, refused := w.c.Compute.RegionInstanceGroupManagers.Patch(w.t.project, w.t.place.location, w.t.group, change).Context(ctx).Do()
		err = w.ended(methodChange, op, refused)
	}
	return session.Vanished(err)
}

// updateGroup repairs the fields that the step names, records the surge, and points the group at the template that the step names. It never
// touches the size.
func (w writer) updateGroup(ctx context.Context, s pool.Step) error {
	is, err := w.there()
	if err != nil {
		return err
	}
	want, err := w.want(ctx)
	if err != nil && slices.Contains(s.Fields, fieldZones) {
		return err
	}
	change := &compute.InstanceGroupManager{}
	w.t.rows(want).Repairing(s.Fields).Put(change, nil, is)
	if s.Template != "" && s.Template != w.ref(launchesFrom(is)) {
		change.Versions = versions(w.url(s.Template))
	}
	set, removed := map[string]string{}, []string(nil)
	if slices.Contains(s.Fields, fieldLabels) {
		set, removed = want.labelChanges(labelsOf(is))
	}
	set, removed, records := w.memory.recordSurge(set, removed, s.Planned)
	if len(set)+len(removed) > 0 {
		change.AllInstancesConfig = labelPatch(set, removed)
	}
	if nothing(change) {
		return nil
	}
	err = w.patch(ctx, change)
	if records {
		return w.memory.surgeRecorded(err)
	}
	return err
}

// recordSurge adds the label of the surge to those that are set or removed, and reports whether it changes.
func (m *memory) recordSurge(set map[string]string, removed []string, planned pool.PlannedSurge) (map[string]string, []string, bool) {
	s := m.surge()
	if planned == (pool.PlannedSurge{}) && !s.stale() {
		return set, removed, false
	}
	switch text := s.label(planned); text {
	case m.surgeLabel():
		return set, removed, false
	case "":
		return set, append(removed, template.LabelSurge), true
	default:
		set = maps.Clone(set)
		set[template.LabelSurge] = text
		return set, removed, true
	}
}

// nothing reports whether a change changes nothing.
func nothing(c *compute.InstanceGroupManager) bool {
	return c.Versions == nil && c.UpdatePolicy == nil && c.InstanceLifecyclePolicy == nil && c.DistributionPolicy == nil &&
		c.AllInstancesConfig == nil &&
		c.AutoHealingPolicies == nil && len(c.ForceSendFields) == 0
}

// resize requests a number of instances, never fewer than exist: Compute Engine would choose which go. A surge is recorded after a size
// that is raised and before one that is lowered, so that what ends in between leaves too many instances and never too few.
func (w writer) resize(ctx context.Context, s pool.Step) error {
	_, err := w.there()
	if err != nil {
		return err
	}
	if staying := w.memory.group.staying(); s.Size < staying {
		return &cloud.Error{Kind: cloud.Conflict, Code: "InstancesWouldGo", Message: fmt.Sprintf(
			"managed instance group %s has %d instances and was to be asked for %d: Compute Engine would choose which go", w.t.group, staying,
			s.Size)}
	}
	if s.Surge > 0 || w.memory.surge().Recorded != (pool.PlannedSurge{}) {
		return w.resizeWithSurge(ctx, s)
	}
	w.memory.touched()
	size := int64(s.Size)
	if w.t.place.zonal() {
		op, refused := w.c.Compute.InstanceGroupManagers.Resize(w.t.project, w.t.place.location, w.t.group, size).Context(ctx).Do()
		err = w.ended(methodChange, op, refused)
	} else {
		op, refused := w.c.Compute.RegionInstanceGroupManagers.Resize(w.t.project, w.t.place.location, w.t.group, size).Context(ctx).Do()
		err = w.ended(methodChange, op, refused)
	}
	return session.Vanished(err)
}

// resizeWithSurge changes the size and records the surge in one request.
func (w writer) resizeWithSurge(ctx context.Context, s pool.Step) error {
	set, removed := map[string]string{}, []string(nil)
	if s.Surge > 0 {
		set[template.LabelSurge] = surges.Record(pool.PlannedSurge{Surge: s.Surge, Size: s.Size}, pool.PlannedSurge{})
	} else {
		removed = []string{template.LabelSurge}
	}
	return w.memory.surgeRecorded(w.patch(ctx, &compute.InstanceGroupManager{
		TargetSize: int64(s.Size), ForceSendFields: []string{"TargetSize"}, AllInstancesConfig: labelPatch(set, removed),
	}))
}

// remove deletes exactly the given instances, in one request. Compute Engine lowers the size by their number. An instance that has the name
// of one that is gone stays: the step was not about it. The request has no ID, by which Compute Engine would ignore for an hour a second
// one about the same instances, whatever became of the first. Instances that are being deleted are skipped, so that it does no harm twice.
func (w writer) remove(ctx context.Context, s pool.Step) error {
	if _, err := w.there(); err != nil {
		return err
	}
	chosen := w.chosen(s)
	urls := []string{}
	for _, i := range chosen {
		urls = append(urls, i.url())
	}
	if len(urls) == 0 {
		return nil
	}
	removal := w.memory.surge().Without(urls)
	w.memory.touched()
	op, err := w.deleteInstances(ctx, urls)
	if err = w.ended(methodChange, op, err); driverkit.MayHaveHappened(err) {
		w.memory.removal = removal
	}
	if err == nil {
		w.memory.removing(chosen, w.now)
	}
	return session.Vanished(err)
}

func (w writer) deleteInstances(ctx context.Context, urls []string) (*compute.Operation, error) {
	if w.t.place.zonal() {
		return w.c.Compute.InstanceGroupManagers.DeleteInstances(w.t.project, w.t.place.location, w.t.group,
			&compute.InstanceGroupManagersDeleteInstancesRequest{Instances: urls, SkipInstancesOnValidationError: true}).Context(ctx).Do()
	}
	return w.c.Compute.RegionInstanceGroupManagers.DeleteInstances(w.t.project, w.t.place.location, w.t.group,
		&compute.RegionInstanceGroupManagersDeleteInstancesRequest{Instances: urls, SkipInstancesOnValidationError: true}).Context(ctx).Do()
}

// deleteGroup deletes the group with its instances.
func (w writer) deleteGroup(ctx context.Context, _ pool.Step) error {
	if w.memory.group.is == nil || w.deleting(w.memory.group.is) {
		return nil
	}
	// Even without a reply Compute Engine may delete it from now on.
	w.memory.made = time.Time{}
	w.memory.touched()
	var err error
	if w.t.place.zonal() {
		op, refused := w.c.Compute.InstanceGroupManagers.Delete(w.t.project, w.t.place.location, w.t.group).Context(ctx).Do()
		err = w.ended(methodDelete, op, refused)
	} else {
		op, refused := w.c.Compute.RegionInstanceGroupManagers.Delete(w.t.project, w.t.place.location, w.t.group).Context(ctx).Do()
		err = w.ended(methodDelete, op, refused)
	}
	if session.Absent(err) {
		return nil
	}
	if driverkit.MayHaveHappened(err) {
		w.memory.deleted = w.now
	}
	return err
}
