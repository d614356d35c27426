package session

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
)

const (
	ofSubscription = "GET " + endpoint + "/subscriptions/" + subscription +
		"/providers/Microsoft.Compute/virtualMachines?api-version=2026-04-01"
	ofOneSet = "GET " + endpoint + "/subscriptions/" + subscription + "/resourceGroups/capz/providers/Microsoft.Compute/virtualMachines?"
)

// vm is a virtual machine of the scale set mp-k as a list writes it. what is added to its properties.
func vm(group string, k int, what string) string {
	id := fmt.Sprintf(`"id":"/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/virtualMachines/mp-%d_a"`, subscription, group, k)
	return fmt.Sprintf(`{%s,"name":"mp-%d_a","properties":{"vmId":"%d",%s}}`, id, k, k, what)
}

func model(k int) string {
	const of = `"provisioningState":"Succeeded","virtualMachineScaleSet":{"id":"/subscriptions/` + subscription +
		`/resourceGroups/CAPZ/providers/Microsoft.Compute/virtualMachineScaleSets/mp-%d"}`
	return vm("CAPZ", k, fmt.Sprintf(of, k))
}

func status(k int) string {
	return vm("capz", k, `"instanceView":{"statuses":[{"code":"PowerState/running"}]}`)
}

func listed(next string, items ...string) answer {
	return answer{status: http.StatusOK, body: `{"value":[` + strings.Join(items, ",") + `],"nextLink":"` + next + `"}`}
}

// each applies a function to the numbers from zero on.
func each(of func(int) string, n int, without ...int) (all []string) {
	for k := range n {
		if !slices.Contains(without, k) {
			all = append(all, of(k))
		}
	}
	return all
}

// TestSharedMachines holds that the machines of many Flexible scale sets are read by two lists of the subscription, and what becomes of
// those that these do not show.
func TestSharedMachines(t *testing.T) {
	const pools = 10
	denied := answer{status: http.StatusForbidden, body: `{"error":{"code":"AuthorizationFailed","message":"no"}}`}
	broken := answer{status: http.StatusBadGateway, body: `{"error":{"code":"ProviderError","message":"no"}}`}
	second := endpoint + "/second"
	for _, c := range []struct {
		why              string
		models, statuses answer
		page             answer
		maxAge           time.Duration
		lists, unknown   int
	}{
		{why: "a status belongs to the model with its ID, whatever the case", models: listed("", each(model, pools)...),
			statuses: listed("", each(status, pools)...)},
		{why: "a machine of another name's time has no status", models: listed("", each(model, pools)...), lists: 1,
			statuses: listed("", append(each(status, pools, 3), strings.Replace(status(3), `"vmId":"3"`, `"vmId":"other"`, 1))...)},
		{why: "a scale set with a machine without a status is listed by itself", models: listed("", each(model, pools)...),
			statuses: listed("", each(status, pools, 4, 5)...), lists: 2},
		{why: "a scale set that no list names is listed by itself", models: listed("", each(model, pools, 7)...),
			statuses: listed("", each(status, pools, 7)...), lists: 1},
		{why: "without the permission to list the subscription all are", models: denied, lists: pools - 1},
		{why: "a failed page of the models makes all machines unknown", models: listed(second, each(model, 5)...), page: broken,
			unknown: pools - 1},
		{why: "a failed page of the statuses makes all machines unknown", models: listed("", each(model, pools)...),
			statuses: listed(second, each(status, 5)...), page: broken, unknown: pools - 1},
		{why: "what must be new is listed by itself", models: broken, maxAge: -1, lists: pools - 1},
	} {
		t.Run(c.why, func(t *testing.T) {
			answers := map[string]answer{ofSubscription: c.models, ofSubscription + "&statusOnly=true": c.statuses, "GET " + second: c.page}
			for k := range pools {
				answers[ofOneSet+"%24expand=instanceView&%24filter=%27virtualMachineScaleSet%2Fid%27%20eq%20%27"+
					strings.ReplaceAll(strings.Replace(scaleSet, "capz-mp-0", fmt.Sprintf("mp-%d", k), 1), "/", "%2F")+"%27"] =
					listed("", strings.Replace(model(k), `"vmId"`, `"instanceView":{"statuses":[{"code":"PowerState/running"}]},"vmId"`, 1))
			}
			st := newStand(t, answers)
			s := st.session(t, nil)
			maxAge := time.Second
			if c.maxAge < 0 {
				maxAge = 0
			}
			var mu sync.Mutex
			failed, seen := 0, map[int]bool{}
			read := func(k int) {
				is, _, err := s.Machines(t.Context(), "capz", fmt.Sprintf("mp-%d", k), maxAge)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					if failed++; cloud.KindOf(err) != cloud.Unavailable {
						t.Errorf("want the answer unavailable, got %v", err)
					}
					return
				}
				seen[k] = len(is.List) == 1 && is.List[0].Properties.InstanceView != nil
			}
			read(0)
			st.take()
			var all sync.WaitGroup
			for k := 1; k < pools; k++ {
				all.Go(func() { read(k) })
			}
			all.Wait()
			lists := slices.DeleteFunc(st.take(), func(call string) bool { return call != "compute:VirtualMachines.List" })
			if len(lists) != c.lists || failed != c.unknown {
				t.Errorf("want %d lists of one scale set and %d unknown, got %d and %d", c.lists, c.unknown, len(lists), failed)
			}
			if slices.Contains(slices.Collect(maps.Values(seen)), false) || len(seen) != pools-c.unknown {
				t.Errorf("want the machine of each scale set with its status, got %v", seen)
			}
		})
	}
}

// TestSharedMachinesOfEmptySets holds that a listing answers for a scale set without machines once its own list has shown none.
func TestSharedMachinesOfEmptySets(t *testing.T) {
	st := newStand(t, map[string]answer{ofSubscription: listed("", each(model, 8)...),
		ofSubscription + "&statusOnly=true": listed("", each(status, 8)...), ofOneSet: listed("")})
	s := st.session(t, nil)
	if _, _, err := s.Machines(t.Context(), "capz", "another", time.Second); err != nil {
		t.Fatal(err)
	}
	for round, want := range []int{1, 0, 0} {
		st.take()
		var all sync.WaitGroup
		for k := range 9 {
			all.Go(func() {
				is, _, err := s.Machines(t.Context(), "capz", fmt.Sprintf("mp-%d", k), time.Second)
				if err != nil || len(is.List) != min(8-k, 1) {
					t.Errorf("round %d: want the machines of scale set %d, got %d, %v", round, k, len(is.List), err)
				}
			})
		}
		all.Wait()
		if got := slices.DeleteFunc(st.take(), func(call string) bool { return call != "compute:VirtualMachines.List" }); len(got) != want {
			t.Errorf("round %d: want %d lists of one scale set, got %v", round, want, got)
		}
		st.at = st.at.Add(10 * time.Second)
	}
}

// TestListsOfMachinesAreOneToTheBudget holds that the second list of the subscription is sent although the first one has used up the rate
// budget: what the first has read would be of no use otherwise, and would be read in vain again and again.
func TestListsOfMachinesAreOneToTheBudget(t *testing.T) {
	models := listed("", each(model, 8)...)
	models.header = map[string]string{headerResource: "Microsoft.Compute/HighCostGetVMSubscription;0"}
	st := newStand(t, map[string]answer{ofSubscription: models, ofSubscription + "&statusOnly=true": listed("", each(status, 8)...),
		ofOneSet: listed("")})
	s := st.session(t, nil)
	if _, _, err := s.Machines(t.Context(), "capz", "another", time.Second); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for k := range 8 {
		all.Go(func() {
			is, _, err := s.Machines(t.Context(), "capz", fmt.Sprintf("mp-%d", k), time.Second)
			if err != nil || len(is.List) != 1 {
				t.Errorf("want the machine of scale set %d, got %d, %v", k, len(is.List), err)
			}
		})
	}
	all.Wait()
}
