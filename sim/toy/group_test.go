package toy_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/toy"
)

const groups = "/v1/groups"

// makeGroup creates a group of three machines with its template.
func (k client) makeGroup() {
	k.Helper()
	k.ask(http.MethodPost, "/v1/templates", doc{"name": "t1", "machineType": "small", "version": "1.34.2", "userData": []byte("boot")})
	k.ask(http.MethodPost, groups, doc{"name": "g", "count": 3, "template": "t1"})
	pass()
}

func (k client) members() []sim.Member { return k.GroupSnapshot().Group("g").Staying() }

// TestGroupKeepsItsSize: a machine that is deleted by request lowers the size or is replaced, as the request says; one that is deleted by
// hand is replaced.
func TestGroupKeepsItsSize(t *testing.T) {
	inCloud(t, toy.Options{}, func(k client) {
		k.makeGroup()
		first := k.members()
		k.ask(http.MethodPost, groups+"/g/delete-machines", doc{"machines": []string{first[0].ID}, "replace": true})
		pass()
		k.ask(http.MethodPost, groups+"/g/delete-machines", doc{"machines": []string{first[1].ID}})
		pass()
		k.must(k.GroupCapabilities().OutOfBand[sim.TerminateInstance](sim.Resource{Name: "g", Instance: first[2].ID}))
		pass()
		left := k.members()
		for _, m := range left {
			if slices.ContainsFunc(first, func(f sim.Member) bool { return f.ID == m.ID }) {
				t.Errorf("want %s gone, got %+v", m.ID, left)
			}
		}
		if len(left) != 2 {
			t.Errorf("want 2 machines, got %+v", left)
		}
	})
}

// TestTemplatesInUseStay: a template that a group or a machine is of can't be deleted, and a change on another revision is refused.
func TestTemplatesInUseStay(t *testing.T) {
	inCloud(t, toy.Options{}, func(k client) {
		k.makeGroup()
		k.refused("InUse", http.MethodDelete, "/v1/templates/t1", nil)
		k.refused("AlreadyExists", http.MethodPost, "/v1/templates", doc{"name": "t1", "machineType": "small", "version": "1.34.2"})
		k.refused("NotFound", http.MethodPatch, groups+"/g", doc{"template": "none"})
		k.refused("PreconditionFailed", http.MethodPatch, groups+"/g", doc{"count": 1}, "If-Match", "7")
		k.ask(http.MethodDelete, groups+"/g", nil)
		pass()
		if g := k.GroupSnapshot().Group("g"); g != nil {
			t.Errorf("want the group gone, got %+v", g)
		}
		if status, is := k.ask(http.MethodDelete, "/v1/templates/t1", nil); status != http.StatusOK {
			t.Errorf("want the template deleted, got %v", is)
		}
	})
}
