package instancegroup

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/pool"
)

// instance is one instance of a group, as a list shows it.
type instance struct {
	name, zone string
	// id is zero while the instance does not exist.
	id uint64
	// status and action are Compute Engine's words: what the instance does, and what the group does to it.
	status, action string
	// template is the URL of the template that it was, or will be, made from.
	template string
	created  time.Time
	// labels are those that the instance had when it was read itself; nil where it was not.
	labels map[string]string
	// failures are the errors of the group's last attempt to change it.
	failures []*cloud.Error
	// assumed is true if its removal was accepted and no list shows it yet.
	assumed bool
}

// instances reads the instances of the group.
func (r *groupReader) instances(ctx context.Context, read groupRead) ([]instance, error) {
	if stable(read.is) && read.is.TargetSize == 0 {
		return nil, nil
	}
	r.memory.await(r.now)
	members, err := r.members(ctx, read.is)
	if err != nil {
		return nil, err
	}
	list := make([]instance, 0, len(members.Managed)+len(members.Instances))
	for _, m := range members.Managed {
		list = append(list, managed(m))
	}
	for _, i := range members.Instances {
		r.memory.note(i)
		list = append(list, listed(i))
	}
	if members.Instances == nil {
		r.memory.outdate(read.is, list)
	}
	if err := r.detail(ctx, list, read.is.BaseInstanceName); err != nil {
		return nil, err
	}
	r.memory.complete(list, read.skew)
	r.memory.assume(list, r.now)
	return list, nil
}

// members reads the list of the group's instances. While nothing happens to the group the list is one for all pools of the project; it
// shows no actions. Where it does not have as many as the group keeps, the group's own tells more; and while labels of instances are being
// changed, they themselves do.
func (r *groupReader) members(ctx context.Context, is *compute.InstanceGroupManager) (session.Members, error) {
	if stable(is) && r.t.Cache.MaxAge > 0 && len(r.memory.relabels) == 0 {
		members, _, err := r.c.Members(ctx, r.t.place.location, r.t.group, r.t.Cache.MaxAge)
		if err != nil || members.Managed != nil || len(members.Instances) == int(is.TargetSize) {
			return members, err
		}
	}
	list, err := r.c.ManagedInstances(ctx, r.t.place.location, r.t.group)
	return session.Members{Managed: list}, err
}

// stable reports whether the group does nothing to its instances.
func stable(is *compute.InstanceGroupManager) bool { return is.Status != nil && is.Status.IsStable }

// managed reads an instance of the group's own list.
func managed(m *compute.ManagedInstance) instance {
	at := session.ParseResource(m.Instance)
	out := instance{name: at.Name, zone: at.Location(), id: m.Id, status: m.InstanceStatus, action: m.CurrentAction}
	if out.name == "" {
		out.name = m.Name
	}
	if m.Version != nil {
		out.template = m.Version.InstanceTemplate
	}
	if m.LastAttempt != nil && m.LastAttempt.Errors != nil {
		for _, e := range m.LastAttempt.Errors.Errors {
			out.failures = append(out.failures, session.ErrorOf(e.Code, e.Message))
		}
	}
	return out
}

// listed reads an instance of a list of all instances.
func listed(i *compute.Instance) instance {
	out := instance{name: i.Name, zone: session.LastName(i.Zone), id: i.Id, status: i.Status, action: actionNone}
	if i.Metadata != nil {
		for _, item := range i.Metadata.Items {
			if item.Key == "instance-template" && item.Value != nil {
				// The project stands there by its number.
				at := session.ParseResource(*item.Value)
				at.Project = ""
				out.template = at.Path()
			}
		}
	}
	return out
}

// note keeps the details of instances.
func (m *memory) note(list ...*compute.Instance) {
	if m.details == nil {
		m.details = map[uint64]detail{}
	}
	for _, i := range list {
		created, _ := time.Parse(time.RFC3339, i.CreationTimestamp) // Without a time it counts as one whose creation is not known.
		labels := i.Labels
		if labels == nil {
			labels = map[string]string{}
		}
		m.details[i.Id] = detail{created: created, labels: labels, fingerprint: i.LabelFingerprint}
		if m.relabels[i.Id].fingerprint != i.LabelFingerprint {
			delete(m.relabels, i.Id)
		}
	}
}

// outdate forgets the details of instances once after each change of the group's labels: some lack them, and which ones only they show.
func (m *memory) outdate(is *compute.InstanceGroupManager, list []instance) {
	if effective(is) || m.revision == is.Status.AllInstancesConfig.CurrentRevision {
		return
	}
	m.details = nil
	if !slices.ContainsFunc(list, func(i instance) bool { return i.action == actionRefreshing }) {
		m.revision = is.Status.AllInstancesConfig.CurrentRevision
	}
}

// complete adds the details that are known, and forgets those of instances that are gone.
func (m *memory) complete(list []instance, skew time.Duration) {
	kept := map[uint64]detail{}
	for k := range list {
		if d, ok := m.details[list[k].id]; ok {
			kept[list[k].id], list[k].labels = d, d.labels
			if !d.created.IsZero() {
				list[k].created = d.created.Add(-skew)
			}
		}
	}
	m.details = kept
	maps.DeleteFunc(m.relabels, func(id uint64, _ relabelling) bool { _, there := kept[id]; return !there })
	slices.SortFunc(list, func(a, b instance) int { return cmp.Or(byAge(a.created, b.created), cmp.Compare(a.name, b.name)) })
}

// byAge orders by time; what has none is the youngest.
func byAge(a, b time.Time) int {
	switch {
	case a.IsZero() && b.IsZero():
		return 0
	case a.IsZero():
		return 1
	case b.IsZero():
		return -1
	}
	return a.Compare(b)
}

// singleReads is the maximum number of instances of a zone that are read one by one; for more, their list is read.
const singleReads = 2

// detail reads what is not known of instances that exist: by a list of each zone that has such, or one by one where they are few. Where one
// of these reads fails, all that they would tell stays unknown: some of it would put instances into another order. What was read before
// one that is held back is kept: a pass that read it again each time would never come to an end.
func (r *groupReader) detail(ctx context.Context, list []instance, base string) error {
	unknown := map[string][]string{}
	for _, i := range list {
		if _, ok := r.memory.details[i.id]; !ok && i.id != 0 && i.zone != "" {
			unknown[i.zone] = append(unknown[i.zone], i.name)
		}
	}
	var found []*compute.Instance
	for _, zone := range slices.Sorted(maps.Keys(unknown)) {
		read, err := r.detailZone(ctx, zone, base, unknown[zone])
		found = append(found, read...)
		if err != nil && r.tolerate(err) == nil {
			return nil
		}
		if err != nil {
			r.memory.note(found...)
			return err
		}
	}
	r.memory.note(found...)
	return nil
}

// detailZone reads instances of a zone: those of the names, or all whose names begin as those of the group.
func (r *groupReader) detailZone(ctx context.Context, zone, base string, names []string) (found []*compute.Instance, err error) {
	if len(names) > singleReads {
		return r.listZone(ctx, zone, base)
	}
	for _, name := range names {
		is, err := r.c.Compute.Instances.Get(r.t.project, zone, name).Context(ctx).Do()
		switch err = r.c.Refusal(err); {
		case err == nil:
			found = append(found, is)
		case !session.Absent(err):
			return found, err
		}
	}
	return found, nil
}

// listZone lists the instances of a zone whose names begin as those of the group.
func (r *groupReader) listZone(ctx context.Context, zone, base string) (found []*compute.Instance, err error) {
	filter := fmt.Sprintf("name eq %q", base+"-.*")
	_, err = r.c.Listed(ctx, func(ctx context.Context, token string) (string, error) {
		page, err := r.c.Compute.Instances.List(r.t.project, zone).Filter(filter).PageToken(token).Context(ctx).Do()
		if err != nil {
			return "", err
		}
		found = append(found, page.Items...)
		return page.NextPageToken, nil
	})
	return found, err
}

// tolerate keeps the failure of a read that an observation can do without, and returns the error unless the observation goes on.
func (r *groupReader) tolerate(err error) error {
	if failed := r.memory.tolerance.Tolerate(r.now, err); failed != nil {
		return failed
	}
	r.memory.unread = cmp.Or(r.memory.unread, err)
	return nil
}

// The actions of groups on instances that code depends on, and the states of instances.
const (
	actionNone       = "NONE"
	actionDeleting   = "DELETING"
	actionAbandoning = "ABANDONING"
	actionRecreating = "RECREATING"
	// actionOnFailureNothing is the policy of a group that repairs nothing.
	actionOnFailureNothing = "DO_NOTHING"
	statusRepairing        = "REPAIRING"
	// statusDeprovisioning is that of an instance whose resources are given back: it does not come again.
	statusDeprovisioning = "DEPROVISIONING"
)

var (
	going     = []string{actionDeleting, actionAbandoning}
	launching = []string{"", "PROVISIONING", "STAGING", "PENDING"}
	stopping  = []string{"STOPPING", "PENDING_STOP", "SUSPENDING"}
	stopped   = []string{"STOPPED", "TERMINATED", "SUSPENDED"}
)

// state returns the state of an instance.
func (i instance) state() pool.InstanceState {
	switch {
	case i.assumed || slices.Contains(going, i.action) || i.status == statusDeprovisioning:
		return pool.Terminating
	case i.action == actionRecreating && i.id != 0 && !slices.Contains(launching, i.status):
		return pool.Terminating
	case i.vacant():
		return pool.Failed
	case slices.Contains(launching, i.status):
		return pool.Pending
	case slices.Contains(stopped, i.status) || i.status == statusRepairing:
		return pool.Failed
	}
	return pool.Running
}

// vacant reports whether the instance was deleted, and the group does nothing about it.
func (i instance) vacant() bool { return i.id == 0 && i.status == "" && i.action == actionNone }

// repairsNothing reports whether a group creates no instance in the place of one that failed or was deleted.
func repairsNothing(is *compute.InstanceGroupManager) bool {
	return is.InstanceLifecyclePolicy != nil && is.InstanceLifecyclePolicy.DefaultActionOnFailure == actionOnFailureNothing
}

// notice returns why the instance is about to stop, nil if it is not.
func (i instance) notice() *pool.Cause {
	if i.state() != pool.Running || !slices.Contains(stopping, i.status) {
		return nil
	}
	return &pool.Cause{Reason: "InstanceStopping", Message: "Compute Engine is stopping the instance: " + i.status}
}

// uid tells the instance from others that have had its name.
func (i instance) uid() string {
	if i.id == 0 {
		return ""
	}
	return strconv.FormatUint(i.id, 10)
}

// ref returns the ID of the instance in steps: its number, which is never given again, or its name as long as it does not exist.
func (i instance) ref() string { return cmp.Or(i.uid(), i.name) }

// url returns the URL of the instance in requests.
func (i instance) url() string { return "zones/" + i.zone + "/instances/" + i.name }

// named reports whether a step means the instance. One that has the name of an instance which is gone is not meant by that one's number.
func (i instance) named(by pool.InstanceRef) bool {
	return by.ID == i.uid() || by.ID == i.name && (by.UID == "" || by.UID == i.uid())
}
