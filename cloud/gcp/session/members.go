package session

import (
	"context"
	"strings"
	"time"

	"google.golang.org/api/compute/v1"

	"github.com/muster-project/muster/cloud/sweep"
)

// createdBy is the key of an instance's metadata in which its group manager's path stands.
const createdBy = "created-by"

// Members are the instances of a group manager. They are shared by all pools and must not be changed.
type Members struct {
	// Managed are the instances as the manager lists them; nil where they come from a list of all instances of the project.
	Managed []*compute.ManagedInstance
	// Instances are the instances themselves, from a list of all instances of the project; nil otherwise.
	Instances []*compute.Instance
}

// Members returns the instances of a manager, and when they were read. maxAge is as in cloud.Target. Those of a list of the project show no
// actions, no failed attempts and nothing that does not exist yet: it is good for a manager that is stable.
func (s *Session) Members(ctx context.Context, location, name string, maxAge time.Duration) (Members, time.Time, error) {
	answer, err := s.members.Get(ctx, keyOf(location, name), maxAge)
	return answer.Value, answer.At, err
}

// ManagedInstances lists the instances of one manager, for it alone.
func (s *Session) ManagedInstances(ctx context.Context, location, name string) ([]*compute.ManagedInstance, error) {
	var all []*compute.ManagedInstance
	_, err := s.Listed(ctx, func(ctx context.Context, token string) (string, error) {
		if IsZone(location) {
			list := s.Compute.InstanceGroupManagers.ListManagedInstances(s.Project, location, name).MaxResults(pageSize)
			page, err := list.PageToken(token).Context(ctx).Do()
			if err != nil {
				return "", err
			}
			all = append(all, page.ManagedInstances...)
			return page.NextPageToken, nil
		}
		list := s.Compute.RegionInstanceGroupManagers.ListManagedInstances(s.Project, location, name).MaxResults(pageSize)
		page, err := list.PageToken(token).Context(ctx).Do()
		if err != nil {
			return "", err
		}
		all = append(all, page.ManagedInstances...)
		return page.NextPageToken, nil
	})
	return all, err
}

// newMembers makes the sweep of instances: all pools of a project share its reads.
func newMembers(s *Session, o Options) *sweep.Sweep[Members] {
	return sweep.New(sweep.Options[Members]{Some: s.someMembers, All: s.allMembers, Now: o.Now, Eager: o.Listing})
}

// someMembers lists the instances of single managers.
func (s *Session) someMembers(ctx context.Context, keys []string, found func(string, Members)) error {
	for _, key := range keys {
		location, name, _ := strings.Cut(key, "/")
		list, err := s.ManagedInstances(ctx, location, name)
		if err != nil && !Absent(err) {
			return err
		}
		if err == nil {
			found(key, Members{Managed: list})
		}
	}
	return nil
}

// allMembers lists the instances of the project by their managers. What may have instances in a zone that can't be read is left out.
func (s *Session) allMembers(ctx context.Context, found func(string, Members)) (int, error) {
	by, unread := map[string][]*compute.Instance{}, map[string]bool{}
	pages, err := s.Listed(ctx, func(ctx context.Context, token string) (string, error) {
		list := s.Compute.Instances.AggregatedList(s.Project).ReturnPartialSuccess(true).MaxResults(pageSize)
		page, err := list.PageToken(token).Context(ctx).Do()
		if err != nil {
			return "", err
		}
		for _, scope := range page.Unreachables {
			unread[LastName(scope)], unread[RegionOf(LastName(scope))] = true, true
		}
		for scope, in := range page.Items {
			if in.Warning != nil && in.Warning.Code != noResults {
				unread[LastName(scope)], unread[RegionOf(LastName(scope))] = true, true
			}
			for _, is := range in.Instances {
				if key := ManagerOf(is); key != "" {
					by[key] = append(by[key], is)
				}
			}
		}
		return page.NextPageToken, nil
	})
	if err != nil {
		return pages, err
	}
	for key, list := range by {
		if location, _, _ := strings.Cut(key, "/"); !unread[location] {
			found(key, Members{Instances: list})
		}
	}
	return pages, nil
}

// ManagerOf returns the location and the name of an instance's group manager, with a slash between them; empty where it has none.
func ManagerOf(is *compute.Instance) string {
	if is.Metadata == nil {
		return ""
	}
	for _, item := range is.Metadata.Items {
		if item.Key != createdBy || item.Value == nil {
			continue
		}
		by := ParseResource(*item.Value)
		if by.Collection != "instanceGroupManagers" {
			return ""
		}
		return keyOf(by.Location(), by.Name)
	}
	return ""
}
