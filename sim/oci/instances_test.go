package oci_test

import (
	"encoding/json"
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

const (
	atConfigurations = "/20160918/instanceConfigurations"
	atGroups         = "/20160918/instancePools"
	inCompartment    = "?compartmentId=" + oci.Compartment
)

// send sends a request that is accepted with a status, and returns the body of the reply.
func (k *client) send(status int, method, path string, body any) doc {
	k.Helper()
	reply, text := k.ask(method, path, body)
	out := doc{}
	if len(text) > 0 {
		_ = json.Unmarshal(text, &out)
	}
	if reply.StatusCode != status {
		k.Fatalf("%s %s %v: want %d, got %d %s", method, path, body, status, reply.StatusCode, text)
	}
	return out
}

// configuration creates an instance configuration, with other launch details by their paths, and returns its OCID.
func (k *client) configuration(more doc) string {
	k.Helper()
	launch := doc{"compartmentId": oci.Compartment, "shape": "VM.Standard.E4.Flex", "shapeConfig": doc{"ocpus": 2, "memoryInGBs": 32},
		"sourceDetails": doc{"sourceType": "image", "imageId": catalogue.Image(oci.RegionKey, "1.34.2", "amd64")},
		"freeformTags":  doc{"from": "configuration"}, "metadata": doc{"user_data": "I2Nsb3VkLWNvbmZpZwo="}}
	for path, value := range more {
		document.Place(launch, path, value)
	}
	return document.Text(k.send(http.StatusOK, http.MethodPost, atConfigurations, doc{"compartmentId": oci.Compartment, "displayName": "c",
		"instanceDetails": doc{"instanceType": "compute", "launchDetails": launch}}), "id")
}

// group returns a request to create an instance pool of a size in all availability domains.
func (k *client) group(configuration string, size int, more doc) doc {
	var placements []any
	for _, domain := range oci.Domains() {
		placements = append(placements, doc{"availabilityDomain": domain, "primarySubnetId": "ocid1.subnet.oc1.iad.s"})
	}
	body := doc{"displayName": "p", "compartmentId": oci.Compartment, "instanceConfigurationId": configuration, "size": size,
		"placementConfigurations": placements, "freeformTags": doc{"from": "pool", "owner": "me"}}
	for name, value := range more {
		document.Place(body, name, value)
	}
	return body
}

// createGroup creates an instance pool and returns its path.
func (k *client) createGroup(size int, more doc) string {
	k.Helper()
	return atGroups + "/" + document.Text(k.send(http.StatusOK, http.MethodPost, atGroups, k.group(k.configuration(nil), size, more)), "id")
}

// members returns the instances of a pool, the oldest first.
func (k *client) members(path string) []doc {
	k.Helper()
	return k.list(path + "/instances" + inCompartment + "&sortOrder=ASC")
}

// shows holds that a pool is in a state, with its size, what exists of it and the states of its instances.
func (k *client) shows(path, want string) {
	k.Helper()
	p := k.get(path)
	text := fmt.Sprint(document.Text(p, "lifecycleState"), " ", p["size"], "/", p["currentSize"])
	for _, m := range k.members(path) {
		text += " " + document.Text(m, "state")
	}
	if text != want {
		k.Errorf("want the pool %s, got %s", want, text)
	}
}

// TestInstancePoolLife walks a pool from its creation to its end.
func TestInstancePoolLife(t *testing.T) {
	inCloud(t, oci.Options{}, func(k *client) {
		path := k.createGroup(3, nil)
		k.shows(path, "STARTING 3/3 Provisioning Provisioning Provisioning")
		k.refused(http.StatusConflict, "IncorrectState", http.MethodPut, path, doc{"size": 4})
		pass(time.Minute)
		k.shows(path, "RUNNING 3/3 Running Running Running")
		domains := map[string]bool{}
		for _, m := range k.members(path) {
			domains[document.Text(m, "availabilityDomain")] = true
			if !strings.HasPrefix(document.Text(m, "id"), "ocid1.instance.") || document.Text(m, "shape") != "VM.Standard.E4.Flex" {
				t.Errorf("want an instance of the configuration, got %v", m)
			}
		}
		if len(domains) != 3 {
			t.Errorf("want an instance in each availability domain, got %v", domains)
		}

		first := document.Text(k.members(path)[0], "id")
		k.send(http.StatusOK, http.MethodPut, path, doc{"size": 4})
		k.shows(path, "SCALING 4/4 Running Running Running Provisioning")
		k.refused(http.StatusConflict, "IncorrectState", http.MethodPut, path, doc{"displayName": "q"})
		pass(time.Minute)
		k.send(http.StatusOK, http.MethodPut, path, doc{"size": 3})
		pass(time.Minute)
		k.shows(path, "RUNNING 3/3 Running Running Running")
		if document.Text(k.members(path)[0], "id") == first {
			t.Error("want the oldest of the fullest availability domain gone")
		}

		used := document.Text(k.get(path), "instanceConfigurationId")
		k.refused(http.StatusConflict, "Conflict", http.MethodDelete, atConfigurations+"/"+used, nil)
		other := k.configuration(doc{"shapeConfig.ocpus": 4})
		k.send(http.StatusOK, http.MethodPut, path, doc{"instanceConfigurationId": other})
		k.shows(path, "RUNNING 3/3 Running Running Running")
		k.send(http.StatusNoContent, http.MethodDelete, atConfigurations+"/"+used, nil)
		k.refused(http.StatusNotFound, "NotAuthorizedOrNotFound", http.MethodGet, atConfigurations+"/"+used, nil)
		for _, m := range k.members(path) {
			if document.Text(m, "instanceConfigurationId") != used {
				t.Errorf("want instances of the former configuration left alone, got %v", m)
			}
		}

		k.send(http.StatusNoContent, http.MethodDelete, path, nil)
		k.shows(path, "TERMINATING 3/3 Terminating Terminating Terminating")
		k.refused(http.StatusConflict, "Conflict", http.MethodDelete, atConfigurations+"/"+other, nil)
		pass(time.Minute)
		k.shows(path, "TERMINATED 3/0")
		k.refused(http.StatusNotFound, "NotAuthorizedOrNotFound", http.MethodPut, path, doc{"size": 1})
		k.send(http.StatusNoContent, http.MethodDelete, atConfigurations+"/"+other, nil)
		pass(25 * time.Hour)
		k.refused(http.StatusNotFound, "NotAuthorizedOrNotFound", http.MethodGet, path, nil)
	})
}

// TestDetach: one instance leaves a pool, with or without its place, and with or without its end.
func TestDetach(t *testing.T) {
	inCloud(t, oci.Options{}, func(k *client) {
		path := k.createGroup(3, nil)
		pass(time.Minute)
		all := k.members(path)
		id := func(n int) string { return document.Text(all[n], "id") }
		action := path + "/actions/detachInstance"
		work := k.ok(http.MethodPost, action, doc{"instanceId": id(0), "isAutoTerminate": true})
		k.shows(path, "SCALING 2/3 Terminating Running Running")
		k.refused(http.StatusConflict, "Conflict", http.MethodPost, action, doc{"instanceId": id(0)})
		k.ok(http.MethodPost, action, doc{"instanceId": id(1), "isDecrementSize": false, "isAutoTerminate": true})
		k.shows(path, "SCALING 2/4 Terminating Terminating Running Provisioning")
		if got := k.work(work); got != "DetachInstanceFromPool ACCEPTED" {
			t.Errorf("want the detachment accepted, got %s", got)
		}
		pass(time.Minute)
		k.shows(path, "RUNNING 2/2 Running Running")
		if got := k.work(work); got != "DetachInstanceFromPool SUCCEEDED" {
			t.Errorf("want the detachment done, got %s", got)
		}
		k.ok(http.MethodPost, action, doc{"instanceId": id(2)})
		pass(time.Minute)
		k.shows(path, "RUNNING 1/1 Running")
		if got := k.GroupSnapshot().Instances; len(got) != 2 || got[1].Group != "" || got[1].Leaving {
			t.Errorf("want the detached instance kept, got %+v", got)
		}
		k.send(http.StatusCreated, http.MethodPost, path+"/instances", doc{"instanceId": id(2)})
		pass(time.Minute)
		k.shows(path, "RUNNING 2/2 Running Running")
		k.refused(http.StatusNotFound, "NotAuthorizedOrNotFound", http.MethodPost, action, doc{"instanceId": "ocid1.instance.oc1.iad.x"})
	})
}

// TestPreTermination: a pool with the action waits before it terminates an instance, until it is told to go on or its time is over.
func TestPreTermination(t *testing.T) {
	for _, on := range []sim.Switches{nil, {compute.HooksScaleInOnly}, {compute.ShowsAwaiting}} {
		t.Run(fmt.Sprint(on), func(t *testing.T) {
			inCloud(t, oci.Options{Switches: on}, func(k *client) {
				hook := doc{"lifecycleActions": doc{"preTermination": doc{"isEnabled": true, "timeout": 600,
					"onTimeout": doc{"preserveBootVolumeMode": "DELETE_ALWAYS", "preserveBlockVolumeMode": "DELETE_ALWAYS"}}}}
				path := k.createGroup(3, doc{"lifecycleManagement": hook})
				pass(time.Minute)
				k.send(http.StatusOK, http.MethodPut, path, doc{"size": 2})
				id := document.Text(k.members(path)[0], "id")
				state := "Running"
				if slices.Contains(on, compute.ShowsAwaiting) {
					state = "Termination_await"
				}
				pass(5 * time.Minute)
				k.shows(path, "SCALING 2/3 "+state+" Running Running")
				if got := document.Text(k.get(path+"/instances/"+id), "lifecycleState"); got != "TERMINATION_AWAIT" {
					t.Errorf("want the instance to wait, got %s", got)
				}
				proceed := path + "/actions/terminationProceed"
				k.send(http.StatusAccepted, http.MethodPost, proceed, doc{"instanceId": id})
				k.refused(http.StatusConflict, "IncorrectState", http.MethodPost, proceed, doc{"instanceId": id})
				pass(time.Minute)
				k.shows(path, "RUNNING 2/2 Running Running")

				id = document.Text(k.members(path)[0], "id")
				k.ok(http.MethodPost, path+"/actions/detachInstance", doc{"instanceId": id, "isAutoTerminate": true})
				pass(9 * time.Minute)
				if slices.Contains(on, compute.HooksScaleInOnly) {
					k.shows(path, "RUNNING 1/1 Running")
					return
				}
				k.shows(path, "SCALING 1/2 "+state+" Running")
				pass(2 * time.Minute)
				k.shows(path, "RUNNING 1/1 Running")
			})
		})
	}
}
