package session

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
)

// TestSharedSets holds that many scale sets are read by a list of the subscription, and what becomes of those that it does not show.
func TestSharedSets(t *testing.T) {
	const pools = 20
	one := func(k int) string {
		return fmt.Sprintf(`{"id":"/subscriptions/%s/resourceGroups/CAPZ/providers/Microsoft.Compute/virtualMachineScaleSets/mp-%d","name":"mp-%d"}`, subscription, k, k)
	}
	list := "GET " + endpoint + "/subscriptions/" + subscription + "/providers/Microsoft.Compute/virtualMachineScaleSets"
	page := func(next string, names ...int) answer {
		var all []string
		for _, k := range names {
			all = append(all, one(k))
		}
		return answer{status: http.StatusOK, body: `{"value":[` + strings.Join(all, ",") + `],"nextLink":"` + next + `"}`}
	}
	denied := answer{status: http.StatusForbidden, body: `{"error":{"code":"AuthorizationFailed","message":"no"}}`}
	broken := answer{status: http.StatusInternalServerError, body: `{"error":{"code":"InternalServerError","message":"no"}}`}
	var listed []int
	for k := 1; k < pools-1; k++ {
		listed = append(listed, k)
	}
	for _, c := range []struct {
		why           string
		first, second answer
		gets, unknown int
		kind          cloud.ErrorKind
	}{
		{why: "what the list leaves out is asked for by itself", first: page("", listed...), gets: 2},
		{why: "without the permission to list all are", first: denied, gets: pools},
		{why: "what a failed page would have shown is unknown", first: page(endpoint+"/second", 1, 2, 3), second: broken, gets: 1,
			unknown: pools - 4, kind: cloud.Unavailable},
	} {
		answers := map[string]answer{list: c.first, "GET " + endpoint + "/second": c.second}
		for k := range pools - 1 {
			answers["GET "+endpoint+"/subscriptions/"+subscription+"/resourceGroups/capz/providers/Microsoft.Compute/virtualMachineScaleSets/mp-"+
				fmt.Sprint(k)+"?"] = answer{status: http.StatusOK, body: one(k)}
		}
		answers["GET "+endpoint+"/subscriptions/"+subscription+
			"/resourceGroups/capz/providers/Microsoft.Compute/virtualMachineScaleSets/mp-19?"] = answer{status: http.StatusNotFound,
			body: `{"error":{"code":"ResourceNotFound","message":"no"}}`}
		st := newStand(t, answers)
		s := st.session(t, nil)
		var failed []error
		exist := make([]bool, pools)
		var mu sync.Mutex
		read := func(k int) {
			set, _, err := s.Set(t.Context(), "capz", fmt.Sprintf("mp-%d", k), 0)
			mu.Lock()
			defer mu.Unlock()
			if exist[k] = set.Is != nil; err != nil {
				failed = append(failed, err)
			}
		}
		read(0)
		var all sync.WaitGroup
		for k := 1; k < pools; k++ {
			all.Go(func() { read(k) })
		}
		all.Wait()
		gets := slices.DeleteFunc(st.take(), func(call string) bool { return call != "compute:VirtualMachineScaleSets.Get" })
		if len(gets) != c.gets || len(failed) != c.unknown {
			t.Errorf("%s: want %d single reads and %d unknown, got %d and %v", c.why, c.gets, c.unknown, len(gets), failed)
		}
		for _, err := range failed {
			if cloud.KindOf(err) != c.kind {
				t.Errorf("%s: want %s, got %v", c.why, c.kind, err)
			}
		}
		if c.unknown == 0 && (exist[pools-1] || slices.Contains(exist[:pools-1], false)) {
			t.Errorf("%s: want all but the last to exist, got %v", c.why, exist)
		}
		st.at = st.at.Add(time.Second)
		if _, at, err := s.Set(t.Context(), "Capz", "MP-1", time.Minute); c.unknown == 0 &&
			(err != nil || !at.Before(st.at) || len(st.take()) > 0) {
			t.Errorf("%s: want the answer of before, whatever the case of the name, got one of %s, %v", c.why, at, err)
		}
	}
}
