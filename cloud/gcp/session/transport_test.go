package session

import (
	"net/http"
	"strings"
	"testing"
)

func TestCallNames(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		"GET /compute/v1/projects/p/aggregated/instanceGroupManagers": "compute:instanceGroupManagers.aggregatedList p global read",
		"GET /compute/v1/projects/p/zones/us-central1-a/instanceGroupManagers/g": "compute:instanceGroupManagers.get p " +
			"us-central1 read",
		"POST /compute/v1/projects/p/zones/us-central1-a/instanceGroupManagers": "compute:instanceGroupManagers.insert " +
			"p us-central1",
		"PATCH /compute/v1/projects/p/regions/us-central1/instanceGroupManagers/g": "compute:regionInstanceGroupManagers." +
			"patch p us-central1",
		"POST /compute/v1/projects/p/regions/us-central1/instanceGroupManagers/g/deleteInstances": "compute:regionInstanceGroupManagers." +
			"deleteInstances p us-central1",
		"POST /compute/v1/projects/p/regions/us-central1/instanceGroupManagers/g/listManagedInstances": "compute:regionInstanceGroupManagers." +
			"listManagedInstances p us-central1 read",
		"GET /compute/v1/projects/p/global/instanceTemplates": "compute:instanceTemplates.list p " +
			"global read",
		"DELETE /compute/v1/projects/p/global/instanceTemplates/t":                  "compute:instanceTemplates.delete p global",
		"GET /compute/v1/projects/p/global/images/family/f":                         "compute:images.getFromFamily p global read",
		"GET /compute/v1/projects/p/zones/us-central1-a/machineTypes/n2-standard-2": "compute:machineTypes.get p us-central1 read",
		"GET /compute/v1/projects/p/zones/us-central1-a/operations/o":               "compute:zoneOperations.get p us-central1 read",
		"GET /compute/v1/projects/p/global/operations/o":                            "compute:globalOperations.get p global read",
		"GET /compute/v1/projects/p/regions/us-central1/subnetworks/s":              "compute:subnetworks.get p us-central1 read",
		"GET /compute/v1/projects/p/zones":                                          "compute:zones.list p global read",
		"GET /v1/projects/p/locations/-/clusters":                                   "container:projects.locations.clusters.list p global read",
		"GET /v1/projects/p/locations/us-central1/clusters/c":                       "container:projects.locations.clusters.get p global read",
		"POST /v1/projects/p/locations/us-central1/clusters/c/nodePools": "container:projects." +
			"locations.clusters.nodePools.create p global",
		"PUT /v1/projects/p/locations/us-central1/clusters/c/nodePools/n": "container:projects." +
			"locations.clusters.nodePools.update p global",
		"POST /v1/projects/p/locations/us-central1/clusters/c/nodePools/n:setSize": "container:projects." +
			"locations.clusters.nodePools.setSize p global",
		"DELETE /v1/projects/p/locations/us-central1/clusters/c/nodePools/n": "container:projects." +
			"locations.clusters.nodePools.delete p global",
		"GET /v1/projects/p/locations/us-central1/serverConfig":           "container:projects.locations.getServerConfig p global read",
		"GET /v1/projects/p/locations/us-central1/operations/operation-1": "container:projects.locations.operations.get p global read",
	} {
		method, path, _ := strings.Cut(request, " ")
		req, err := http.NewRequest(method, "http://127.0.0.1:9"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := callOf(req)
		got := c.String() + " " + c.Account + " " + c.Region
		if c.ReadOnly {
			got += " read"
		}
		if got != want {
			t.Errorf("%s: want %s, got %s", request, want, got)
		}
	}
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		request, key string
		minute       int
	}{
		{"GET /compute/v1/projects/p/aggregated/instances", "compute/p/global/wide", 750},
		{"GET /compute/v1/projects/p/zones/us-central1-a/instanceGroupManagers/g", "compute/p/us-central1/reads", 1500},
		{"POST /compute/v1/projects/p/zones/us-central1-a/instanceGroupManagers/g/listManagedInstances", "compute/p/us-central1/queries", 1500},
		{"POST /compute/v1/projects/p/zones/us-central1-b/instanceGroupManagers/g/resize", "compute/p/us-central1/queries", 1500},
		{"GET /compute/v1/projects/p/global/instanceTemplates", "compute/p/global/lists", 1500},
		{"GET /compute/v1/projects/p/zones/us-central1-a/operations/o", "compute/p/us-central1/operations", 1500},
		{"GET /v1/projects/p/locations/-/clusters", "container/p", 3000},
	} {
		method, path, _ := strings.Cut(c.request, " ")
		req, err := http.NewRequest(method, "http://127.0.0.1:9"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		list := budgetsOf(callOf(req))
		if len(list) != 1 || list[0].Key != c.key {
			t.Fatalf("%s: want the bucket %s, got %+v", c.request, c.key, list)
		}
		if sent := float64(list[0].Burst) + 60*list[0].PerSecond; int(sent+0.5) != c.minute {
			t.Errorf("%s: want %d requests a minute at most, got %v", c.request, c.minute, sent)
		}
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"https://www.googleapis.com/compute/v1/projects/p/global/instanceTemplates/t", "global/instanceTemplates/t", true},
		{"https://www.googleapis.com/compute/beta/projects/p/global/instanceTemplates/t", "projects/p/global/instanceTemplates/t", true},
		{"https://www.googleapis.com/compute/v1/projects/q/global/instanceTemplates/t", "global/instanceTemplates/t", false},
		{"zones/us-central1-a/machineTypes/n2-standard-2", "projects/p/zones/us-central1-a/machineTypes/n2-standard-2", true},
		{"regions/us-central1/subnetworks/s", "regions/us-east1/subnetworks/s", false},
		{"", "", true},
		{"t", "global/instanceTemplates/t", false},
	} {
		if got := SameResource(c.a, c.b, "p"); got != c.same {
			t.Errorf("%q and %q: want same %v, got %v", c.a, c.b, c.same, got)
		}
	}
	zone := ParseResource("https://www.googleapis.com/compute/v1/projects/p/zones/us-central1-a/instances/i")
	if zone.Location() != "us-central1-a" || zone.Path() != "projects/p/zones/us-central1-a/instances/i" ||
		RegionOf("us-central1-a") != "us-central1" ||
		RegionOf("europe-west1") != "europe-west1" || IsZone("us-central1") || !IsZone("us-central1-ai1a") ||
		RegionOf("us-central1-ai1a") != "us-central1" {
		t.Errorf("want zone and region told apart, got %+v", zone)
	}
}
