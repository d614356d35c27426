package oci_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/oci"
	"github.com/muster-project/muster/sim/oci/catalogue"
	"github.com/muster-project/muster/sim/oci/compute"
)

const atWorks = "/20160918/workRequests"

// launches returns the statuses of the work requests of a pool that launch, the newest first, and the errors of the newest.
func (k *client) launches(path string) (statuses string, errors []doc) {
	k.Helper()
	id := path[strings.LastIndex(path, "/")+1:]
	for _, w := range k.list(atWorks + inCompartment + "&resourceId=" + id) {
		if document.Text(w, "operationType") != "LaunchInstancesInPool" {
			continue
		}
		if statuses == "" {
			errors = k.list(atWorks + "/" + document.Text(w, "id") + "/errors?sortOrder=DESC")
		}
		statuses += document.Text(w, "status") + " "
	}
	return strings.TrimSpace(statuses), errors
}

// errorOf returns the code and the message of the first error, "" for none.
func errorOf(errors []doc) string {
	if len(errors) == 0 {
		return ""
	}
	return document.Text(errors[0], "code") + ", " + document.Text(errors[0], "message")
}

// TestLaunchesThatFail: a pool tries again, its work requests tell why, and after a day it does without.
func TestLaunchesThatFail(t *testing.T) {
	for _, c := range []struct {
		why     string
		fault   sim.Fault
		limits  map[string]int
		more    doc
		on      sim.Switches
		want    string
		timeout string
	}{
		{why: "no capacity", fault: sim.Fault{Kind: sim.NoCapacity, Group: "p", Limit: 1},
			want: "OutOfCapacity, OutOfCapacity: Out of host capacity."},
		{why: "one work request", fault: sim.Fault{Kind: sim.NoCapacity, Group: "p", Limit: 1}, on: sim.Switches{compute.KeepsWorkRequests},
			want: "OutOfCapacity, OutOfCapacity: Out of host capacity.", timeout: "IN_PROGRESS"},
		{why: "a quota", fault: sim.Fault{Kind: sim.NoCapacity, Limit: 1, Code: "QuotaExceeded"},
			want: "QuotaExceeded, QuotaExceeded: The following compartment quotas were exceeded."},
		{why: "a limit", limits: map[string]int{"VM.Standard.E4.Flex": 1},
			want: "ServiceLimit, LimitExceeded: The following service limits were exceeded: standard-e4-core-count."},
	} {
		t.Run(c.why, func(t *testing.T) {
			inCloud(t, oci.Options{Limits: c.limits, Switches: c.on}, func(k *client) {
				if c.fault.Kind != "" {
					if err := k.Faults().Add(c.fault); err != nil {
						t.Fatal(err)
					}
				}
				path := k.createGroup(2, nil)
				pass(5 * time.Minute)
				k.shows(path, "PROVISIONING 2/1 Running")
				statuses, errors := k.launches(path)
				if !strings.HasPrefix(errorOf(errors), c.want) || statuses != "IN_PROGRESS" {
					t.Errorf("want %s in a work request that goes on, got %s: %v", c.want, statuses, errors)
				}
				pass(6 * time.Minute)
				want := "IN_PROGRESS FAILED"
				if c.timeout != "" {
					want = c.timeout
				}
				if statuses, _ := k.launches(path); statuses != want {
					t.Errorf("want the work requests %s, got %s", want, statuses)
				}
				k.refused(http.StatusConflict, "IncorrectState", http.MethodPut, path, doc{"size": 1})
				pass(24 * time.Hour)
				k.shows(path, "RUNNING 1/1 Running")
			})
		})
	}
}

// TestCapacityComesBack: a pool that lacked capacity launches once there is some.
func TestCapacityComesBack(t *testing.T) {
	inCloud(t, oci.Options{}, func(k *client) {
		path := k.createGroup(1, nil)
		pass(time.Minute)
		if err := k.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Zone: oci.Domains()[1]}); err != nil {
			t.Fatal(err)
		}
		k.send(http.StatusOK, http.MethodPut, path, doc{"size": 2})
		pass(5 * time.Minute)
		k.shows(path, "SCALING 2/1 Running")
		k.Faults().Clear()
		pass(2 * time.Minute)
		k.shows(path, "RUNNING 2/2 Running Running")
		if statuses, _ := k.launches(path); statuses != "SUCCEEDED SUCCEEDED" {
			t.Errorf("want two work requests that succeeded, got %s", statuses)
		}
	})
}

// TestOtherDomains: with the switch a pool launches where there is capacity.
func TestOtherDomains(t *testing.T) {
	inCloud(t, oci.Options{Switches: sim.Switches{compute.TriesOtherDomains}}, func(k *client) {
		if err := k.Faults().Add(sim.Fault{Kind: sim.NoCapacity, Zone: oci.Domains()[1]}); err != nil {
			t.Fatal(err)
		}
		path := k.createGroup(3, nil)
		pass(time.Minute)
		k.shows(path, "RUNNING 3/3 Running Running Running")
	})
}

// TestBadConfigurations: what can't be launched shows in the work request, or is refused at once.
func TestBadConfigurations(t *testing.T) {
	for path, c := range map[string]struct {
		value any
		want  string
	}{
		"shape":                 {"VM.Nothing", `Shape "VM.Nothing" is not available.`},
		"sourceDetails.imageId": {"ocid1.image.oc1.iad.x", `Image "ocid1.image.oc1.iad.x" was not found.`},
		"shapeConfig":           {nil, ""},
	} {
		t.Run(path, func(t *testing.T) {
			inCloud(t, oci.Options{}, func(k *client) {
				group := k.group(k.configuration(doc{path: c.value}), 1, nil)
				at := atGroups + "/" + document.Text(k.send(http.StatusOK, http.MethodPost, atGroups, group), "id")
				pass(time.Minute)
				if _, errors := k.launches(at); c.want == "" && len(errors) > 0 || !strings.Contains(errorOf(errors), c.want) {
					t.Errorf("want %q, got %v", c.want, errors)
				}
			})
		})
	}
}

// TestCheckedConfigurations: with the switch a configuration from which nothing can be launched is refused.
func TestCheckedConfigurations(t *testing.T) {
	inCloud(t, oci.Options{Switches: sim.Switches{compute.ChecksConfigurations}}, func(k *client) {
		body := func(image string) doc {
			return doc{"compartmentId": oci.Compartment, "instanceDetails": doc{"instanceType": "compute", "launchDetails": doc{
				"shape": "VM.Standard.A1.Flex", "sourceDetails": doc{"sourceType": "image", "imageId": image}}}}
		}
		other := body(catalogue.Image(oci.RegionKey, "1.34.2", "amd64"))
		k.refused(http.StatusBadRequest, "InvalidParameter", http.MethodPost, atConfigurations, other)
		k.send(http.StatusOK, http.MethodPost, atConfigurations, body(catalogue.Image(oci.RegionKey, "1.34.2", "arm64")))
	})
}

// TestRefusalsOfInstancePools: what pools and configurations can't be.
func TestRefusalsOfInstancePools(t *testing.T) {
	inCloud(t, oci.Options{Switches: sim.Switches{compute.RefusesPreemptible}}, func(k *client) {
		fine := k.configuration(nil)
		for why, body := range map[string]doc{
			"a size":              k.group(fine, -1, nil),
			"no placement":        k.group(fine, 1, doc{"placementConfigurations": []any{}}),
			"another domain":      k.group(fine, 1, doc{"placementConfigurations": []any{doc{"availabilityDomain": "AD-9"}}}),
			"a domain twice":      k.group(fine, 1, doc{"placementConfigurations": []any{place(0), place(0)}}),
			"a fault domain":      k.group(fine, 1, doc{"placementConfigurations": []any{place(0, "FAULT-DOMAIN-4")}}),
			"a name":              k.group(fine, 1, doc{"instanceDisplayNameFormatter": "node"}),
			"a hook without time": k.group(fine, 1, doc{"lifecycleManagement": hookOf(0)}),
			"a boot volume":       k.group(k.configuration(doc{"sourceDetails": doc{"sourceType": "bootVolume", "bootVolumeId": "b"}}), 1, nil),
			"a dedicated host":    k.group(k.configuration(doc{"dedicatedVmHostId": "ocid1.dedicatedvmhost.oc1.iad.h"}), 1, nil),
			"preemptible":         k.group(k.configuration(doc{"preemptibleInstanceConfig": preemptible}), 1, nil),
		} {
			if message := k.refused(http.StatusBadRequest, "InvalidParameter", http.MethodPost, atGroups, body); message == "" {
				t.Errorf("%s: want a message", why)
			}
		}
		unknown := k.group("ocid1.instanceconfiguration.oc1.iad.x", 1, nil)
		k.refused(http.StatusNotFound, "NotAuthorizedOrNotFound", http.MethodPost, atGroups, unknown)
		k.refused(http.StatusBadRequest, "MissingParameter", http.MethodPost, atGroups, doc{"compartmentId": oci.Compartment})
		k.refused(http.StatusBadRequest, "InvalidParameter", http.MethodGet, atGroups+inCompartment+"&limit=101", nil)
		large := doc{"compartmentId": oci.Compartment, "instanceDetails": doc{"instanceType": "compute",
			"launchDetails": doc{"metadata": doc{"user_data": strings.Repeat("x", 32_000)}}}}
		k.refused(http.StatusBadRequest, "InvalidParameter", http.MethodPost, atConfigurations, large)
		k.refused(http.StatusBadRequest, "MissingParameter", http.MethodPost, atConfigurations, doc{"compartmentId": oci.Compartment})
	})
}

var preemptible = doc{"preemptionAction": doc{"type": "TERMINATE"}}

// hookOf is a pre-termination action with a timeout in seconds.
func hookOf(timeout int) doc {
	return doc{"lifecycleActions": doc{"preTermination": doc{"isEnabled": true, "timeout": timeout,
		"onTimeout": doc{"preserveBootVolumeMode": "DELETE_ALWAYS", "preserveBlockVolumeMode": "DELETE_ALWAYS"}}}}
}

// place is a placement in an availability domain, with fault domains or without.
func place(domain int, faults ...string) doc {
	out := doc{"availabilityDomain": oci.Domains()[domain], "primarySubnetId": "ocid1.subnet.oc1.iad.s"}
	if faults != nil {
		out["faultDomains"] = document.List(faults)
	}
	return out
}

// TestPlacement: instances are spread over availability and fault domains, and leave those that a pool leaves.
func TestPlacement(t *testing.T) {
	inCloud(t, oci.Options{}, func(k *client) {
		placements := []any{place(0, "FAULT-DOMAIN-1", "FAULT-DOMAIN-3"), place(2)}
		path := k.createGroup(6, doc{"placementConfigurations": placements})
		pass(time.Minute)
		spread := func() string {
			var all []string
			for _, m := range k.members(path) {
				all = append(all, strings.TrimPrefix(document.Text(m, "availabilityDomain"), "Uocm:US-ASHBURN-AD-")+
					strings.TrimPrefix(document.Text(m, "faultDomain"), "FAULT-DOMAIN-"))
			}
			slices.Sort(all)
			return strings.Join(all, " ")
		}
		if got := spread(); got != "11 11 13 31 32 33" {
			t.Errorf("want an even spread, got %s", got)
		}
		k.send(http.StatusOK, http.MethodPut, path, doc{"size": 4})
		pass(time.Minute)
		if got := spread(); got != "11 13 32 33" {
			t.Errorf("want the oldest of the fullest domains gone, got %s", got)
		}
		k.send(http.StatusOK, http.MethodPut, path, doc{"placementConfigurations": []any{place(0), place(1)}})
		k.shows(path, "SCALING 4/6 Running Terminating Running Terminating Provisioning Provisioning")
		pass(time.Minute)
		if got := spread(); got != "11 13 21 22" {
			t.Errorf("want instances in the new domain, got %s", got)
		}
	})
}

// TestPoolsInOtherHands: what others do to instances, and what their pool does then.
func TestPoolsInOtherHands(t *testing.T) {
	inCloud(t, oci.Options{}, func(k *client) {
		group := k.group(k.configuration(doc{"preemptibleInstanceConfig": preemptible}), 2, nil)
		path := atGroups + "/" + document.Text(k.send(http.StatusOK, http.MethodPost, atGroups, group), "id")
		pass(time.Minute)
		do := func(action sim.Action, on sim.Resource) {
			t.Helper()
			if has, err := k.GroupCapabilities().OutOfBand.Do(action, on); err != nil || !has {
				t.Errorf("%s: has it %t, error %v", action, has, err)
			}
		}
		id := func(n int) string { return document.Text(k.members(path)[n], "id") }
		do(sim.TerminateInstance, sim.Resource{Instance: id(0)})
		k.shows(path, "SCALING 2/3 Terminating Running Provisioning")
		pass(time.Minute)
		k.shows(path, "RUNNING 2/2 Running Running")
		do(sim.InterruptInstance, sim.Resource{Instance: id(0)})
		pass(90 * time.Second)
		k.shows(path, "RUNNING 2/2 Running Running")
		pass(45 * time.Second)
		k.shows(path, "SCALING 2/3 Terminating Running Provisioning")
		pass(time.Minute)

		do(sim.StopInstance, sim.Resource{Instance: id(0)})
		pass(time.Hour)
		k.shows(path, "RUNNING 2/2 Stopped Running")
		if m := k.GroupSnapshot().Group("p").Members[0]; !m.Failed || !m.Spot {
			t.Errorf("want the stopped instance to have failed, got %+v", m)
		}
		do(sim.StopInstance, sim.Resource{Instance: id(1)})
		pass(time.Minute)
		k.shows(path, "RUNNING 2/2 Stopped Stopped")
		pass(6 * time.Minute)
		k.shows(path, "RUNNING 2/2 Running Running")

		do(sim.StopGroup, sim.Resource{Name: "p"})
		k.shows(path, "STOPPING 2/2 Stopping Stopping")
		pass(time.Hour)
		k.shows(path, "STOPPED 2/2 Stopped Stopped")
		do(sim.SetSize, sim.Resource{Name: "p", Size: 3})
		pass(time.Minute)
		k.shows(path, "STOPPED 3/2 Stopped Stopped")
		k.send(http.StatusOK, http.MethodPost, path+"/actions/start", nil)
		k.shows(path, "STARTING 3/3 Starting Starting Provisioning")
		pass(time.Minute)
		k.shows(path, "RUNNING 3/3 Running Running Running")
		k.send(http.StatusOK, http.MethodPost, path+"/actions/reset", nil)
		k.shows(path, "STARTING 3/3 Starting Starting Starting")
		pass(time.Minute)
		do(sim.ChangeTag, sim.Resource{Name: "p", Key: "x", Value: "y"})
		do(sim.RemoveTag, sim.Resource{Name: "p", Key: "owner"})
		if got := fmt.Sprint(k.get(path)["freeformTags"]); got != "map[from:pool x:y]" {
			t.Errorf("want the tags changed, got %s", got)
		}
		do(sim.CreateGroup, sim.Resource{Name: "theirs"})
		if err := k.GroupsByHand(func(s *compute.Service) error { return s.SetType("theirs", "GMC") }); err != nil {
			t.Error(err)
		}
		if got := k.list(atGroups + inCompartment + "&displayName=theirs"); len(got) != 1 || got[0]["poolType"] != "GMC" {
			t.Errorf("want a pool of another service, got %v", got)
		}
		do(sim.DeleteGroup, sim.Resource{Name: "theirs"})
		pass(time.Minute)
		do(sim.DeleteTemplate, sim.Resource{Name: "theirs"})
	})
}
