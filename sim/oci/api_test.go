package oci_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/oci/compute"
	"github.com/muster-project/muster/sim/oci/shapes"
	"github.com/muster-project/muster/test/specs"
)

// TestRetryTokensOfPools: a request has its effect once, and a token is invalid once its pool has been changed since.
func TestRetryTokensOfPools(t *testing.T) {
	inCloud(t, oci.Options{}, func(k *client) {
		as := func(token string) func() {
			k.sign = func(r *http.Request) { r.Header.Set("Opc-Retry-Token", token) }
			return func() { k.sign = nil }
		}
		launch := k.configuration(nil)
		defer as("create")()
		first := k.send(http.StatusOK, http.MethodPost, atGroups, k.group(launch, 2, nil))
		path := atGroups + "/" + document.Text(first, "id")
		pass(time.Minute)
		if again := k.send(http.StatusOK, http.MethodPost, atGroups, k.group(launch, 2, nil)); again["id"] != first["id"] {
			t.Errorf("want the pool %v again, got %v", first["id"], again["id"])
		}
		k.refused(http.StatusConflict, "InvalidatedRetryToken", http.MethodPost, atGroups, k.group(launch, 3, nil))
		as("update")
		k.send(http.StatusOK, http.MethodPut, path, doc{"size": 3})
		k.send(http.StatusOK, http.MethodPut, path, doc{"size": 3})
		pass(time.Minute)
		as("detach")
		action, body := path+"/actions/detachInstance", doc{"instanceId": k.members(path)[0]["id"], "isAutoTerminate": true}
		work := k.ok(http.MethodPost, action, body)
		if again := k.ok(http.MethodPost, action, body); again != work {
			t.Errorf("want the work request %s again, got %s", work, again)
		}
		pass(time.Minute)
		k.shows(path, "RUNNING 2/2 Running Running")
		as("update")
		k.refused(http.StatusConflict, "InvalidatedRetryToken", http.MethodPut, path, doc{"size": 3})
		as("create")
		k.refused(http.StatusConflict, "InvalidatedRetryToken", http.MethodPost, atGroups, k.group(launch, 2, nil))
	})
}

// TestEtags: what was changed since it was read is not changed by its etag.
func TestEtags(t *testing.T) {
	inCloud(t, oci.Options{}, func(k *client) {
		path := k.createGroup(0, nil)
		pass(time.Minute)
		reply, _ := k.ask(http.MethodGet, path, nil)
		used := atConfigurations + "/" + document.Text(k.get(path), "instanceConfigurationId")
		k.sign = func(r *http.Request) { r.Header.Set("If-Match", reply.Header.Get("Etag")) }
		k.send(http.StatusOK, http.MethodPut, path, doc{"displayName": "q"})
		k.refused(http.StatusPreconditionFailed, "NoEtagMatch", http.MethodPut, path, doc{"displayName": "r"})
		k.refused(http.StatusPreconditionFailed, "NoEtagMatch", http.MethodDelete, path, nil)
		k.refused(http.StatusPreconditionFailed, "NoEtagMatch", http.MethodDelete, used, nil)
	})
}

// TestPermissionsOfPools: a key does what its permissions allow, and nothing else is found.
func TestPermissionsOfPools(t *testing.T) {
	key := private()
	allowed := []string{"INSTANCE_POOL_INSPECT", "INSTANCE_POOL_READ", "COMPARTMENT_INSPECT"}
	inCloud(t, oci.Options{Keys: []oci.Key{{ID: keyID, Public: &key.PublicKey, Permissions: allowed}}}, func(k *client) {
		if _, err := k.GroupCapabilities().OutOfBand.Do(sim.CreateGroup, sim.Resource{Name: "theirs"}); err != nil {
			t.Fatal(err)
		}
		pools := k.list(atGroups + inCompartment)
		path := atGroups + "/" + document.Text(pools[0], "id")
		k.get(path)
		k.members(path)
		denied := k.GroupCapabilities().Denied
		for _, r := range []struct{ method, path string }{
			{http.MethodPut, path}, {http.MethodDelete, path}, {http.MethodPost, atGroups}, {http.MethodPost, path + "/actions/detachInstance"},
			{http.MethodGet, atConfigurations + inCompartment}, {http.MethodGet, atWorks + inCompartment}, {http.MethodPost, path + "/actions/stop"},
		} {
			if message := k.refused(denied.Status, denied.Code, r.method, r.path, doc{}); message != denied.Message {
				t.Errorf("%s %s: want %q, got %q", r.method, r.path, denied.Message, message)
			}
		}
		if _, refused := k.Asked(); refused["INSTANCE_POOL_DELETE"] != 1 || refused["WORKREQUEST_INSPECT"] != 1 {
			t.Errorf("want the denied permissions counted, got %v", refused)
		}
	})
}

// TestFaultsOfPools: reads that are late and writes that are ignored.
func TestFaultsOfPools(t *testing.T) {
	inCloud(t, oci.Options{}, func(k *client) {
		path := k.createGroup(1, nil)
		pass(time.Minute)
		add := func(f sim.Fault) {
			if err := k.Faults().Add(f); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range oci.IgnorableOfGroups() {
			add(f)
		}
		k.raw = true // what is left of a request need not have what is required
		k.send(http.StatusOK, http.MethodPut, path, doc{"size": 3, "displayName": "q"})
		k.send(http.StatusNoContent, http.MethodDelete, path, nil)
		k.raw = false
		k.Faults().Clear()
		k.shows(path, "RUNNING 1/1 Running")
		k.send(http.StatusOK, http.MethodPut, path, doc{"size": 2})
		add(sim.Fault{Kind: sim.Stale, Service: compute.Name, Action: "GetInstancePool", Writes: 1, Times: 1})
		if got := k.get(path)["size"]; got != 1.0 {
			t.Errorf("want the former size, got %v", got)
		}
		pass(time.Minute)
		k.shows(path, "RUNNING 2/2 Running Running")
		add(sim.Fault{Kind: sim.Dies, Group: "p", Delay: sim.Duration(5 * time.Minute), Times: 1})
		add(sim.Fault{Kind: sim.NeverBoots, Group: "p", Times: 1})
		k.send(http.StatusOK, http.MethodPut, path, doc{"size": 3})
		pass(10 * time.Minute)
		k.shows(path, "RUNNING 3/3 Running Running Stopped")
	})
}

// TestWorkRequestsOfPools: their lists and their logs.
func TestWorkRequestsOfPools(t *testing.T) {
	inCloud(t, oci.Options{Compartments: []string{"ocid1.compartment.oc1..other"}}, func(k *client) {
		path := k.createGroup(1, nil)
		k.createGroup(1, doc{"displayName": "q"})
		pass(time.Minute)
		k.send(http.StatusNoContent, http.MethodDelete, path, nil)
		pass(time.Minute)
		id := strings.TrimPrefix(path, atGroups+"/")
		all, own := k.list(atWorks+inCompartment+"&limit=1"), k.list(atWorks+inCompartment+"&resourceId="+id)
		if len(all) != 2 || len(own) != 1 || len(k.list(atWorks+"?compartmentId=ocid1.compartment.oc1..other")) != 0 {
			t.Fatalf("want one work request a pool, got %v and %v", all, own)
		}
		w := k.get(atWorks + "/" + document.Text(own[0], "id"))
		resources := document.Objects(w, "resources")
		if w["status"] != "SUCCEEDED" || w["percentComplete"] != 100.0 || len(resources) != 2 || resources[0]["identifier"] != id {
			t.Errorf("want the launch of an instance, got %v", w)
		}
		logs := k.list(atWorks + "/" + document.Text(own[0], "id") + "/logs?limit=1")
		if len(logs) != 2 || document.Text(logs[1], "message") != "LaunchInstancesInPool ended: succeeded." {
			t.Errorf("want the beginning and the end, got %v", logs)
		}
		k.refused(http.StatusNotFound, "NotAuthorizedOrNotFound", http.MethodGet, atWorks+"/ocid1.coreservicesworkrequest.oc1.iad.x", nil)
		k.refused(http.StatusBadRequest, "MissingParameter", http.MethodGet, atWorks, nil)
		pass(25 * time.Hour)
		if left := k.list(atWorks + inCompartment); len(left) != 0 {
			t.Errorf("want work requests forgotten after a day, got %v", left)
		}
	})
}

// TestDomainsAndShapes: what the region has.
func TestDomainsAndShapes(t *testing.T) {
	inCloud(t, oci.Options{}, func(k *client) {
		names := func(path, member string) string {
			var out []string
			for _, d := range k.list(path) {
				out = append(out, document.Text(d, member))
			}
			return strings.Join(out, " ")
		}
		if got := names("/20160918/availabilityDomains"+inCompartment, "name"); got != strings.Join(oci.Domains(), " ") {
			t.Errorf("want the availability domains, got %s", got)
		}
		faults := "/20160918/faultDomains" + inCompartment
		if got := names(faults+"&availabilityDomain="+oci.Domains()[0], "name"); got != "FAULT-DOMAIN-1 FAULT-DOMAIN-2 FAULT-DOMAIN-3" {
			t.Errorf("want the fault domains, got %s", got)
		}
		k.refused(http.StatusBadRequest, "MissingParameter", http.MethodGet, faults, nil)
		k.refused(http.StatusNotFound, "NotAuthorizedOrNotFound", http.MethodGet, faults+"&availabilityDomain=AD-9", nil)
		at := "/20160918/shapes" + inCompartment + "&availabilityDomain=" + oci.Domains()[0]
		if got := names(at+"&imageId="+k.image("", "AARCH64"), "shape"); got != "VM.Standard.A1.Flex" {
			t.Errorf("want the shapes for an image, got %s", got)
		}
		if got := len(k.list(at + "&limit=3")); got != 8 {
			t.Errorf("want all shapes of a domain, got %d", got)
		}
		if got := len(k.list("/20160918/shapes" + inCompartment + "&shape=VM.Standard2.1")); got != 3 {
			t.Errorf("want a shape in each domain, got %d", got)
		}
	})
}

// TestSource: a configuration can be made of an instance.
func TestSource(t *testing.T) {
	inCloud(t, oci.Options{Switches: sim.Switches{compute.TagDefaults}}, func(k *client) {
		path := k.createGroup(1, nil)
		made := k.send(http.StatusOK, http.MethodPost, atConfigurations, doc{"compartmentId": oci.Compartment, "source": "INSTANCE",
			"instanceId": k.members(path)[0]["id"]})
		if document.Text(made, "instanceDetails.launchDetails.shape") != "VM.Standard.E4.Flex" || document.Text(made, "displayName") == "" ||
			document.Text(made, "definedTags.Oracle-Tags.CreatedBy") == "" {
			t.Errorf("want the instance's details with tags by default, got %v", made)
		}
	})
}

// powers records which machines are on. The cloud powers them on and off at any time.
type powers struct {
	mu sync.Mutex
	on map[string]sim.Machine
}

func (p *powers) PowerOn(m sim.Machine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on[m.ID] = m
}

func (p *powers) PowerOff(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.on, id)
}

func (p *powers) Console(string) []byte { return nil }

// now returns the machines that are on.
func (p *powers) now() map[string]sim.Machine {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.on)
}

// reset forgets all machines.
func (p *powers) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.on)
}

// TestRestart: the cloud goes on where it was, with the machines that ran.
func TestRestart(t *testing.T) {
	t.Parallel()
	key := private()
	synctest.Test(t, func(t *testing.T) {
		host := &powers{on: map[string]sim.Machine{}}
		o := oci.Options{Dir: t.TempDir(), MachineHost: host, Speed: 1, Keys: []oci.Key{{ID: keyID, Public: &key.PublicKey}}}
		k := &client{T: t, keyID: keyID, key: key}
		open := func() {
			var err error
			if k.Cloud, err = oci.New(o); err != nil {
				t.Fatal(err)
			}
		}
		open()
		path := k.createGroup(2, nil)
		if err := k.SetLimit(oci.Limit{Shape: "VM.Standard.E4.Flex", Most: 3}); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		k.send(http.StatusOK, http.MethodPut, path, doc{"size": 4})
		ran := slices.Sorted(maps.Keys(host.now()))
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		host.reset()
		open()
		defer func() { _ = k.Close() }()
		if got := slices.Sorted(maps.Keys(host.now())); !slices.Equal(got, ran) || len(got) != 2 {
			t.Errorf("want the machines %v on again, got %v", ran, got)
		}
		pass(time.Minute)
		k.shows(path, "SCALING 4/3 Running Running Running")
		if m := host.now()[document.Text(k.members(path)[0], "id")]; m.KubeletVersion != "v1.34.2" || m.CPUs != 4 || m.MemoryMiB != 32<<10 ||
			string(m.UserData) != "#cloud-config\n" || m.ProviderID != "oci://"+m.ID {
			t.Errorf("want a machine as its configuration describes it, got %+v", m)
		}
		k.send(http.StatusNoContent, http.MethodDelete, path, nil)
		if len(host.now()) != 0 {
			t.Errorf("want all machines off, got %v", host.now())
		}
	})
}

// TestRequiredMembers: each body without a member that is published as required is refused.
func TestRequiredMembers(t *testing.T) {
	inCloud(t, oci.Options{}, func(k *client) {
		path := k.createGroup(1, nil)
		pass(time.Minute)
		paths := strings.NewReplacer("{instancePoolId}", strings.TrimPrefix(path, atGroups+"/"))
		bodies := 0
		for name := range shapes.Core().Operations {
			o := specs.OCI().Operation(name)
			for _, member := range o.Required() {
				body := doc{}
				for _, other := range o.Required() {
					if other != member {
						body[other] = sample(shapes.Core().Operations[name].Body, other)
					}
				}
				bodies++
				k.raw = true
				message := k.refused(http.StatusBadRequest, "MissingParameter", o.Method, paths.Replace(o.Path), body)
				if !strings.Contains(message, member) {
					t.Errorf("%s: want %s named, got %q", name, member, message)
				}
			}
		}
		if bodies < 8 {
			t.Errorf("want the members of all bodies, got %d", bodies)
		}
	})
}

// sample is a value of a member of a type.
func sample(typ, name string) any {
	switch kind := strings.TrimLeft(shapes.Core().Types[typ][name], "*"); {
	case strings.HasPrefix(kind, "[]"):
		return []any{}
	case kind == "int":
		return 1
	case kind == "string":
		return "x"
	}
	return doc{}
}
