package session

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	"github.com/muster-project/muster/cloud"
)

//go:embed testdata/scaleset.json
var scaleSetJSON string

// sampleSets are as many scale sets as one of a list is, encoded.
func sampleSets(tb testing.TB, n int) []json.RawMessage {
	tb.Helper()
	var all []json.RawMessage
	for k := range n {
		all = append(all, json.RawMessage(strings.ReplaceAll(scaleSetJSON, "NAME", fmt.Sprintf("pool-%d", k))))
	}
	return all
}

// TestRelisted holds that a list which is read again has the items that have not changed as they are, the others as the SDK decodes them,
// and that a page which can't be read is an error and no shorter list.
func TestRelisted(t *testing.T) {
	raw := sampleSets(t, 3)
	answers := map[string]answer{}
	list := "GET " + endpoint + "/subscriptions/" + subscription + "/providers/Microsoft.Compute/virtualMachineScaleSets"
	give := func(next string, items ...json.RawMessage) answer {
		body, err := json.Marshal(map[string]any{"value": items, "nextLink": next})
		if err != nil {
			t.Fatal(err)
		}
		return answer{status: http.StatusOK, body: string(body)}
	}
	s := newStand(t, answers).session(t, nil)
	look := func() (found map[string]*armcompute.VirtualMachineScaleSet, err error) {
		found = map[string]*armcompute.VirtualMachineScaleSet{}
		_, err = s.sets.all(t.Context(), func(key string, is Set) { found[key] = is.Is })
		return found, err
	}
	answers[list], answers["GET "+endpoint+"/second"] = give(endpoint+"/second", raw[0], raw[1]), give("", raw[2], json.RawMessage("null"))
	first, err := look()
	if err != nil || len(first) != 3 {
		t.Fatalf("want three of two pages, got %v, %v", first, err)
	}
	var want armcompute.VirtualMachineScaleSet
	if err := json.Unmarshal(raw[1], &want); err != nil || !reflect.DeepEqual(first["capz/pool-1"], &want) {
		t.Errorf("want what the SDK decodes, got %+v, %v", first["capz/pool-1"], err)
	}
	changed := json.RawMessage(strings.Replace(string(raw[1]), `"capacity": 3`, `"capacity": 4`, 1))
	answers[list] = give(endpoint+"/second", raw[0], changed)
	second, err := look()
	if err != nil || second["capz/pool-0"] != first["capz/pool-0"] || second["capz/pool-2"] != first["capz/pool-2"] ||
		*second["capz/pool-1"].SKU.Capacity != 4 || *first["capz/pool-1"].SKU.Capacity != 3 {
		t.Errorf("want only what has changed decoded again, got %v and %v, %v", first, second, err)
	}
	answers[list] = give("", raw[0], json.RawMessage(`{"id":7}`))
	if _, err := look(); cloud.KindOf(err) != cloud.Unavailable || cloud.CodeOf(err) != cloud.CodeNoReply {
		t.Errorf("want an item that can't be read to be an error, got %v", err)
	}
	answers[list] = give("", raw[0])
	if _, err := s.sets.all(t.Context(), func(string, Set) { _, err = look() }); err != nil {
		t.Errorf("want two lists read at the same time, neither waiting for the other, got %v", err)
	}
	if third, err := look(); err != nil || third["capz/pool-0"] != first["capz/pool-0"] || len(s.sets.list.known) != 1 {
		t.Errorf("want what is known to outlive a failure, and no more of it than the last list has, got %v, %d, %v", third,
			len(s.sets.list.known), err)
	}
}

// BenchmarkRelisted measures the decoding of a list of scale sets: by the SDK, and again when nothing has changed.
func BenchmarkRelisted(b *testing.B) {
	for _, n := range []int{100, 1000} {
		body, err := json.Marshal(map[string]any{"value": sampleSets(b, n)})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("sdk/sets=%d", n), func(b *testing.B) {
			for b.Loop() {
				var page armcompute.VirtualMachineScaleSetListWithLinkResult
				if err := json.Unmarshal(body, &page); err != nil || len(page.Value) != n {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("again/sets=%d", n), func(b *testing.B) {
			r := &relisted[armcompute.VirtualMachineScaleSet]{}
			look := func() {
				var page struct {
					Items []json.RawMessage `json:"value"`
				}
				seen := map[[sha256.Size]byte]*armcompute.VirtualMachineScaleSet{}
				if err := json.Unmarshal(body, &page); err != nil {
					b.Fatal(err)
				}
				if list, err := decode(page.Items, r.get(), seen); err != nil || len(list) != n {
					b.Fatal(err)
				}
				r.set(seen)
			}
			look()
			for b.Loop() {
				look()
			}
		})
	}
}
