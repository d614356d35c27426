package scaleway_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/scaleway"
)

// TestTimes: pools with machines take as long to become ready as the recorded ones: 46 to 657 s, and 161 s in the median of 22.
func TestTimes(t *testing.T) {
	const clusters, shortest, longest, median, look = 30, 46 * time.Second, 657 * time.Second, 161 * time.Second, 5 * time.Second
	inCloud(t, scaleway.Options{}, func(k *client) {
		var ids []string
		for n := range clusters {
			made := k.ok(http.MethodPost, at+"/clusters", doc{"name": fmt.Sprint("c", n+1), "version": "1.34.6", "cni": "cilium", "type": ""})
			ids = append(ids, document.Text(made, "id"))
		}
		pass(time.Minute)
		pools, took, began := map[string]bool{}, []time.Duration{}, time.Now()
		for _, id := range ids {
			k.cluster = id
			k.create(1, nil)
			pools[k.pool] = true
		}
		for range 400 {
			pass(look)
			for id := range pools {
				if k.pool = id; k.is("status") == "ready" {
					took = append(took, time.Since(began))
					delete(pools, id)
				}
			}
		}
		slices.Sort(took)
		if len(took) != clusters {
			k.Fatalf("want %d pools ready, got %v", clusters, took)
		}
		k.Logf("from %s to %s, median %s", took[0], took[clusters-1], took[clusters/2])
		if took[0] < shortest-look || took[clusters-1] > longest+look || took[clusters/2] < median/2 || took[clusters/2] > median*3/2 {
			k.Errorf("want %s to %s and about %s, got %s to %s, median %s", shortest, longest, median, took[0], took[clusters-1], took[clusters/2])
		}
	})
}
