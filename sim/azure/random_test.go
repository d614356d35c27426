package azure_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"pgregory.net/rapid"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/sim/azure/compute"
	"github.com/muster-project/muster/sim/azure/shapes"
)

// TestRandomLives plays what clients and others could do to scale sets, in any order, and holds what must be true at any time and
// at rest.
func TestRandomLives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		modes := rapid.SliceOfN(rapid.SampledFrom([]string{"Uniform", "Flexible"}), 1, 2).Draw(rt, "modes")
		steps := rapid.SliceOfN(rapid.IntRange(0, 1<<20), 1, 25).Draw(rt, "steps")
		synctest.Test(t, func(t *testing.T) {
			c, err := azure.New(azure.Options{Seed: seed, Limits: azure.Limits{}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }() // a test that failed is what counts
			l := life{T: t, Cloud: c}
			for i, mode := range modes {
				name := fmt.Sprintf("s%d", i)
				l.send("PUT", name, "", azure.Example(azure.SubscriptionID, group(), mode, name, 3))
			}
			for _, step := range steps {
				l.step(step)
				l.holds()
			}
			c.Faults().Clear()
			time.Sleep(24 * time.Hour)
			l.holds()
			for _, s := range c.State().Sets {
				if s.Busy || s.State != "Succeeded" && s.State != "Failed" {
					t.Errorf("want a scale set at rest after a day, got %+v", s)
				}
			}
		})
	})
}

type life struct {
	*testing.T
	*azure.Cloud
}

// send asks for something; refusals are part of life, failures of the service's own are not.
func (l life) send(method, set, rest string, body any) {
	l.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		l.Fatal(err)
	}
	status, _, text := ask(l.T, l.Cloud, method, inGroup+"virtualMachineScaleSets/"+set+rest+version, string(b))
	if status >= http.StatusInternalServerError {
		l.Errorf("%s %s%s: want no failure, got %d %s", method, set, rest, status, text)
	}
}

// step does one thing that the number stands for.
func (l life) step(n int) {
	sets := l.State().Sets
	if len(sets) == 0 {
		time.Sleep(time.Duration(n%100) * time.Second)
		return
	}
	s := sets[n%len(sets)]
	var m compute.Machine
	if len(s.Machines) > 0 {
		m = s.Machines[n/7%len(s.Machines)]
	}
	deeds := []func(){
		func() { time.Sleep(time.Duration(n%60) * time.Second) },
		func() { l.send("PATCH", s.Name, "", map[string]any{"sku": map[string]any{"capacity": n % 9}}) },
		func() { l.send("PATCH", s.Name, "", map[string]any{"tags": map[string]any{"n": fmt.Sprint(n)}}) },
		func() { l.send("POST", s.Name, "/delete", map[string]any{"instanceIds": []string{m.ID}}) },
		func() { l.send("POST", s.Name, "/manualupgrade", map[string]any{"instanceIds": []string{m.ID}}) },
		func() {
			l.send("PUT", s.Name, "/virtualMachines/"+m.ID,
				map[string]any{"properties": map[string]any{"protectionPolicy": map[string]any{"protectFromScaleIn": n%2 == 0}}})
		},
		func() {
			l.send("PATCH", s.Name, "", map[string]any{"sku": map[string]any{"name": fmt.Sprintf("Standard_D%ds_v3", 2<<(n%4))}})
		},
		func() {
			mode := []string{"Automatic", "Manual"}[n%2]
			l.send("PATCH", s.Name, "", map[string]any{"properties": map[string]any{"upgradePolicy": map[string]any{"mode": mode}}})
		},
		func() { _ = l.Terminate(m.UID) },  // a machine that is not there is left alone
		func() { _ = l.Deallocate(m.UID) }, // likewise
		func() {
			kinds := []sim.FaultKind{sim.NoCapacity, sim.Impaired, sim.Dies, sim.NeverBoots}
			if err := l.Faults().Add(sim.Fault{Kind: kinds[n%len(kinds)], Times: 2, Delay: sim.Duration(time.Second)}); err != nil {
				l.Fatal(err)
			}
		},
		func() { l.send("DELETE", s.Name, "", nil) },
	}
	deeds[n/3%len(deeds)]()
}

// holds reports what must never be.
func (l life) holds() {
	l.Helper()
	for _, s := range l.State().Sets {
		seen := map[string]bool{}
		staying := 0
		models := map[string]bool{s.Model: true}
		for _, m := range s.Machines {
			if seen[m.ID] || m.ID == "" || m.UID == "" {
				l.Errorf("want machines with IDs of their own, got %+v", s.Machines)
			}
			seen[m.ID] = true
			models[m.Model] = true
			if m.State != "Deleting" {
				staying++
			}
			if m.State == "Failed" && m.Code == "" {
				l.Errorf("want a reason for a machine that failed, got %+v", m)
			}
		}
		switch {
		case s.Mode == "Uniform" && len(models) > 10:
			l.Errorf("want 10 models at most, got %d", len(models))
		case staying > s.Capacity:
			l.Errorf("want no more machines than the capacity of %d, got %d", s.Capacity, staying)
		case !s.Busy && s.State == "Succeeded" && staying != s.Capacity:
			l.Errorf("want all machines of a scale set that succeeded, got %d of %d", staying, s.Capacity)
		case s.State == "Failed" && s.Code == "":
			l.Errorf("want a reason for a scale set that failed, got %+v", s)
		}
	}
}

// FuzzRequests holds that no request whatever makes the simulator fail or panic.
func FuzzRequests(f *testing.F) {
	example, err := json.Marshal(azure.Example(azure.SubscriptionID, group(), "Uniform", "mp", 1))
	if err != nil {
		f.Fatal(err)
	}
	set := inGroup + "virtualMachineScaleSets/mp"
	for _, s := range [][3]string{
		{"PUT", set + version, string(example)},
		{"PATCH", set + version, `{"sku":{"capacity":2},"properties":{"virtualMachineProfile":{"osProfile":null}}}`},
		{"PATCH", set + version, `{"properties":{"virtualMachineProfile":null}}`},
		{"PATCH", set + version, `{"sku":null,"tags":null,"identity":{"type":"None"},"zones":["1"]}`},
		{"POST", set + "/delete" + version, `{"instanceIds":["0","*"]}`},
		{"PUT", set + "/virtualMachines/0" + version, `{"properties":{"protectionPolicy":{}}}`},
		{"GET", set + "/virtualMachines" + version + "&$expand=instanceView&$skiptoken=7", ""},
		{"PUT", "/subscriptions/x/providers/Microsoft.Authorization/roleAssignments/y?api-version=2022-04-01",
			`{"properties":{"principalId":"x"}}`},
		{"PATCH", set + "/providers/Microsoft.Resources/tags/default?api-version=2021-04-01",
			`{"operation":"Merge","properties":{"tags":{"a":1}}}`},
		{"POST", "/t/oauth2/v2.0/token", "grant_type=client_credentials&client_id=" + azure.ClientID + "&client_assertion=a.b.c"},
		{"PUT", "/_sim/groups", `{"Name":"g"}`},
		{"POST", "/_sim/machines/x/terminate", ""},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, method, path, body string) {
		if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(method, " \r\n\t") || method == "" {
			t.Skip()
		}
		c, err := azure.New(azure.Options{Speed: 1e6})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }() // what is written is in memory
		ask(t, c, http.MethodPut, set+version, string(example))
		status, _, text := ask(t, c, method, path, body)
		if status == http.StatusInternalServerError {
			t.Errorf("%s %s %s: want no failure, got %s", method, path, body, text)
		}
		ask(t, c, http.MethodGet, set+version, "")
		ask(t, c, http.MethodGet, set+"/virtualMachines"+version, "")
	})
}

// TestShapes holds that a body which the SDK can write is never refused for a member that is not known.
func TestShapes(t *testing.T) {
	known := shapes.Compute().Types
	for _, body := range []interface {
		MarshalJSON() ([]byte, error)
	}{&armcompute.VirtualMachineScaleSet{}, &armcompute.VirtualMachineScaleSetUpdate{}, &armcompute.VirtualMachineScaleSetVM{},
		&armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs{}} {
		fill(reflect.ValueOf(body).Elem(), 0)
		b, err := body.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var d any
		if err := json.Unmarshal(b, &d); err != nil {
			t.Fatal(err)
		}
		missing := unknown(known, d, reflect.TypeOf(body).Elem().Name(), "")
		slices.Sort(missing)
		if len(missing) > 0 {
			t.Errorf("%T: want all members known, got none of %v", body, missing)
		}
	}
}

// fill sets everything that a model has, to some depth.
func fill(v reflect.Value, depth int) {
	if depth > 12 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Map:
		m, e := reflect.MakeMap(v.Type()), reflect.New(v.Type().Elem()).Elem()
		fill(e, depth+1)
		m.SetMapIndex(reflect.ValueOf("key"), e)
		v.Set(m)
	}
}

// unknown are the paths of members that a shape has not.
func unknown(known map[string]map[string]string, v any, kind, path string) []string {
	kind = strings.TrimLeft(kind, "*!")
	var out []string
	switch t := v.(type) {
	case []any:
		for _, e := range t {
			out = append(out, unknown(known, e, strings.TrimPrefix(kind, "[]"), path)...)
		}
	case map[string]any:
		element, isMap := strings.CutPrefix(kind, "{}")
		for name, e := range t {
			switch {
			case isMap:
				out = append(out, unknown(known, e, element, path+"."+name)...)
			case kind == "any":
			case known[kind][name] == "":
				out = append(out, path+"."+name)
			default:
				out = append(out, unknown(known, e, known[kind][name], path+"."+name)...)
			}
		}
	}
	return out
}
