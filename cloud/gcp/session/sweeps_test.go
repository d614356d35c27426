package session

import (
	"slices"
	"strings"
	"testing"

	"github.com/muster-project/muster/cloud"
)

const compute1 = endpoint + "/compute/v1/projects/" + project

func listing(o *Options) { o.Listing = true }

// TestUnreadScopeIsUnknown holds that a group of a zone that a list could not read is asked for by itself: it is not gone.
func TestUnreadScopeIsUnknown(t *testing.T) {
	t.Parallel()
	st := newStand(t, map[string]answer{
		"GET " + compute1 + "/aggregated/instanceGroupManagers": {status: 200, body: `{"items":{
			"zones/us-central1-a":{"warning":{"code":"UNREACHABLE"}},
			"zones/us-central1-b":{"warning":{"code":"NO_RESULTS_ON_PAGE"}},
			"regions/us-central1":{"instanceGroupManagers":[{"name":"c1-r","targetSize":3}]}}}`},
		"GET " + group: {status: 503, body: `{"error":{"code":503,"message":"no","errors":[{"reason":"backendError"}]}}`},
		"GET " + compute1 + "/zones/us-central1-b/instanceGroupManagers/gone": {status: 404,
			body: `{"error":{"code":404,"message":"no","errors":[{"reason":"notFound"}]}}`},
	}, listing)
	in := st.session(t, Credentials{})
	if got, _, err := in.Manager(t.Context(), "us-central1", "c1-r", 0); err != nil || got.Is == nil || got.Is.TargetSize != 3 {
		t.Errorf("want the group of the region, got %+v, %v", got, err)
	}
	if _, _, err := in.Manager(t.Context(), "us-central1-a", "c1-mp", 0); cloud.KindOf(err) != cloud.Unavailable {
		t.Errorf("want a group of an unread zone unknown, got %v", err)
	}
	if got, _, err := in.Manager(t.Context(), "us-central1-b", "gone", 0); err != nil || got.Is != nil {
		t.Errorf("want a group that is gone, got %+v, %v", got, err)
	}
}

// TestMembersOfAList holds that the instances of a group are found by who created them, and that those of a region are unknown while one
// of its zones is.
func TestMembersOfAList(t *testing.T) {
	t.Parallel()
	by := func(scope, name string) string {
		return `"metadata":{"items":[{"key":"created-by","value":"projects/1/` + scope + `/instanceGroupManagers/` + name + `"}]}`
	}
	st := newStand(t, map[string]answer{
		"GET " + compute1 + "/aggregated/instances": {status: 200, body: `{"items":{
			"zones/us-central1-a":{"instances":[{"name":"a",` + by("zones/us-central1-a", "g") + `},{"name":"b",` + by("regions/us-central1",
			"r") + `},{"name":"other"}]},
			"zones/us-central1-b":{"warning":{"code":"UNREACHABLE"}},
			"zones/europe-west1-b":{"instances":[{"name":"d",` + by("regions/europe-west1", "e") + `}]}},
			"unreachables":["https://www.googleapis.com/compute/v1/projects/` + project + `/zones/europe-west1-c"]}`},
		"POST " + compute1 + "/regions/europe-west1/instanceGroupManagers/e/listManagedInstances": {status: 200,
			body: `{"managedInstances":[{"instance":"x/d"},{"instance":"x/e"}]}`},
		"POST " + compute1 + "/regions/us-central1/instanceGroupManagers/r/listManagedInstances": {status: 200,
			body: `{"managedInstances":[{"instance":"x/b"},{"instance":"x/c"}]}`},
	}, listing)
	in := st.session(t, Credentials{})
	if got, _, err := in.Members(t.Context(), "us-central1-a", "g", 0); err != nil || len(got.Instances) != 1 || got.Instances[0].Name != "a" {
		t.Errorf("want the instance of the group, got %+v, %v", got, err)
	}
	if got, _, err := in.Members(t.Context(), "us-central1", "r", 0); err != nil || len(got.Managed) != 2 {
		t.Errorf("want both instances of the region's group, from its own list, got %+v, %v", got, err)
	}
	if got, _, err := in.Members(t.Context(), "europe-west1", "e", 0); err != nil || len(got.Managed) != 2 {
		t.Errorf("want the group of a region with a zone that the list names as unreachable asked by itself, got %+v, %v", got, err)
	}
	if calls := st.take(); !slices.Contains(calls, "compute:regionInstanceGroupManagers.listManagedInstances") {
		t.Errorf("want the group asked by itself, got %v", calls)
	}
}

func TestClustersOfAllLocations(t *testing.T) {
	t.Parallel()
	clusters := endpoint + "/v1/projects/" + project + "/locations/"
	st := newStand(t, map[string]answer{
		"GET " + clusters + "-/clusters": {status: 200,
			body: `{"clusters":[{"name":"c1","location":"us-central1","nodePools":[{"name":"np"}]}],"missingZones":["us-central1-a"]}`},
		"GET " + clusters + "us-central1-a/clusters/c2": {status: 503, body: `{"error":{"code":503,"status":"UNAVAILABLE","message":"no"}}`},
	}, listing)
	in := st.session(t, Credentials{})
	if got, _, err := in.Cluster(t.Context(), "us-central1", "c1", 0); err != nil || got == nil || len(got.NodePools) != 1 {
		t.Errorf("want the cluster with its node pool, got %+v, %v", got, err)
	}
	if _, _, err := in.Cluster(t.Context(), "us-central1-a", "c2", 0); cloud.KindOf(err) != cloud.Unavailable {
		t.Errorf("want a cluster of a missing zone unknown, got %v", err)
	}
	if calls := strings.Join(st.take(), " "); !strings.Contains(calls, "container:projects.locations.clusters.list") {
		t.Errorf("want one list, got %s", calls)
	}
}
