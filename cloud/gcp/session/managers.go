package session

import (
	"context"
	"strings"
	"time"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/cloud/sweep"
)

// noResults is the warning of a scope that has nothing to list.
const noResults = "NO_RESULTS_ON_PAGE"

// Manager is an instance group manager as it was read.
type Manager struct {
	// Is is nil if there is no such manager. It is shared by all pools and must not be changed.
	Is *compute.InstanceGroupManager
	// Skew is the time by which Google's clock is ahead of Muster's.
	Skew time.Duration
}

// keyOf is the key of a manager in the sweeps.
func keyOf(location, name string) string { return location + "/" + name }

// Place identifies a manager: its zone or region, and its name.
type Place struct{ Location, Name string }

// Manager returns the manager of a zone or region, and when it was read. maxAge is as in cloud.Target.
func (s *Session) Manager(ctx context.Context, location, name string, maxAge time.Duration) (Manager, time.Time, error) {
	answer, err := s.managers.Get(ctx, keyOf(location, name), maxAge)
	return answer.Value, answer.At, err
}

// Managers returns the managers of several places, in their order. maxAge is as in cloud.Target. Those that are to be read anew are read
// together: one list answers for all of them.
func (s *Session) Managers(ctx context.Context, places []Place, maxAge time.Duration) ([]Manager, error) {
	out, keys := make([]Manager, len(places)), make([]string, len(places))
	for i, p := range places {
		keys[i] = keyOf(p.Location, p.Name)
	}
	if maxAge == 0 {
		answers, err := s.managers.Several(ctx, keys)
		for i, key := range keys {
			out[i] = answers[key].Value
		}
		return out, err
	}
	for i, key := range keys {
		answer, err := s.managers.Get(ctx, key, maxAge)
		if err != nil {
			return nil, err
		}
		out[i] = answer.Value
	}
	return out, nil
}

// newProjects makes the sweep over all managers of a project: it has one key, the project's ID.
func newProjects(s *Session, o Options) *sweep.Sweep[[]*compute.InstanceGroupManager] {
	some := func(ctx context.Context, projects []string, found func(string, []*compute.InstanceGroupManager)) error {
		var list []*compute.InstanceGroupManager
		if _, err := s.allManagers(ctx, func(_ string, m Manager) { list = append(list, m.Is) }); err != nil {
			return err
		}
		for _, project := range projects {
			found(project, list)
		}
		return nil
	}
	return sweep.New(sweep.Options[[]*compute.InstanceGroupManager]{Some: some, Now: o.Now})
}

// AllManagers returns the managers of the project's zones and regions, but for those of a zone or region that can't be read. They are
// shared and must not be changed.
func (s *Session) AllManagers(ctx context.Context, maxAge time.Duration) ([]*compute.InstanceGroupManager, error) {
	answer, err := s.project.Get(ctx, s.Project, maxAge)
	return answer.Value, err
}

// TouchManager is called before and after a write that concerns a manager or its instances: what was read of them before is out of date.
func (s *Session) TouchManager(location, name string) {
	s.managers.Touch(keyOf(location, name))
	s.members.Touch(keyOf(location, name))
}

// newManagers makes the sweep of managers: all pools of a project share its reads.
func newManagers(s *Session, o Options) *sweep.Sweep[Manager] {
	return sweep.New(sweep.Options[Manager]{Some: s.someManagers, All: s.allManagers, Now: o.Now, Eager: o.Listing})
}

// someManagers reads single managers.
func (s *Session) someManagers(ctx context.Context, keys []string, found func(string, Manager)) error {
	for _, key := range keys {
		location, name, _ := strings.Cut(key, "/")
		is, err := s.manager(ctx, location, name)
		if err = s.Refusal(err); err != nil && !Absent(err) {
			return err
		}
		if err == nil {
			found(key, Manager{Is: is, Skew: driverkit.ClockSkew(is.Header, s.now())})
		}
	}
	return nil
}

func (s *Session) manager(ctx context.Context, location, name string) (*compute.InstanceGroupManager, error) {
	if IsZone(location) {
		return s.Compute.InstanceGroupManagers.Get(s.Project, location, name).Context(ctx).Do()
	}
	return s.Compute.RegionInstanceGroupManagers.Get(s.Project, location, name).Context(ctx).Do()
}

// allManagers lists the managers of all zones and regions. A scope that can't be read is left out: its managers are read one by one.
func (s *Session) allManagers(ctx context.Context, found func(string, Manager)) (int, error) {
	return s.Listed(ctx, func(ctx context.Context, token string) (string, error) {
		list := s.Compute.InstanceGroupManagers.AggregatedList(s.Project).ReturnPartialSuccess(true).MaxResults(pageSize)
		page, err := list.PageToken(token).Context(ctx).Do()
		if err != nil {
			return "", err
		}
		skew := driverkit.ClockSkew(page.Header, s.now())
		for scope, in := range page.Items {
			if in.Warning != nil && in.Warning.Code != noResults {
				continue
			}
			for _, is := range in.InstanceGroupManagers {
				found(keyOf(LastName(scope), is.Name), Manager{Is: is, Skew: skew})
			}
		}
		return page.NextPageToken, nil
	})
}
