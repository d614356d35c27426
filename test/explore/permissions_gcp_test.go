package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/muster-project/muster/providers/gcp/permissions"
	"github.com/muster-project/muster/test/explore/kinds/gcp"
	"github.com/muster-project/muster/test/explore/kinds/gkenodepool"
	"github.com/muster-project/muster/test/explore/kinds/instancegroup"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
	"github.com/muster-project/muster/test/testrun"
)

// TestLongGoogleCloudScenarios plays the golden scenarios of both kinds of Google Cloud with the role that package permissions prints. Each
// has the same end as with full permissions, and every permission of the role that Muster uses is used by one of them. Without that
// permission, a condition or an event of this scenario names it.
func TestLongGoogleCloudScenarios(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	role := gcpRole(t)
	var mu sync.Mutex
	needs := map[string]script.Scenario{}
	t.Run("play", func(t *testing.T) {
		for _, s := range slices.Concat(instancegroup.Kind.Goldens(), gkenodepool.Kind.Goldens()) {
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				allowed := clean(t, s).used.allowed
				mu.Lock()
				defer mu.Unlock()
				for permission := range allowed {
					if known, ok := needs[permission]; !ok || s.Name < known.Name {
						needs[permission] = s
					}
				}
			})
		}
	})
	for _, permission := range asksFor(t) {
		if _, needed := needs[permission]; !needed && permission != ofFleets {
			t.Errorf("%s is allowed, and no scenario needs it", permission)
		}
	}
	for _, permission := range slices.Sorted(maps.Keys(needs)) {
		t.Run("without "+permission, func(t *testing.T) {
			t.Parallel()
			without := slices.DeleteFunc(slices.Clone(role), func(p string) bool { return p == permission })
			bound := &gcp.Bound{Allowed: without}
			got := play(t, needs[permission], world.Options{Manager: bound})
			words := slices.Contains(forWords, permission)
			if bound.Cloud.Asked().Denied[permission] == 0 {
				t.Error("want it denied")
			}
			if !words && !strings.Contains(got.Trace, permission) {
				t.Errorf("want it named by a condition or an event, got %v, %v\n%s", got.Wrong, got.End, got.Trace)
			}
			if words && len(got.Wrong) > 0 {
				t.Errorf("want the scenario to end as with it, got %v", got.Wrong)
			}
		})
	}
}

// gcpRole returns the permissions of the role.
func gcpRole(t *testing.T) []string {
	t.Helper()
	role, err := permissions.RoleOf(permissions.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return role.IncludedPermissions
}

// gcpLimits returns the role.
func gcpLimits(t *testing.T) limits {
	t.Helper()
	bound := &gcp.Bound{Allowed: gcpRole(t)}
	return limits{manager: bound, used: func() usedPermissions {
		got := bound.Cloud.Asked()
		var denied []string
		for _, permission := range slices.Sorted(maps.Keys(got.Denied)) {
			denied = append(denied, fmt.Sprintf("%s (%d times)", permission, got.Denied[permission]))
		}
		return usedPermissions{got.Granted, denied}
	}}
}

// ofFleets is the permission that pools need where a project has many of them: the node pool driver's TestFleetAtRest plays that.
const ofFleets = "container.clusters.list"

// forWords are the permissions without which pools live as with them: only why an operation failed stays unknown. Tests of the drivers hold
// that an observation names them.
var forWords = []string{
	"compute.regionOperations.get", "compute.zoneOperations.get", "container.operations.get", "container.operations.list",
}

// asksFor returns the permissions of the role that Muster itself asks for.
func asksFor(t *testing.T) []string {
	t.Helper()
	grants, err := permissions.Grants(permissions.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, g := range grants {
		for _, p := range g.Permissions {
			if !p.ByService {
				names = append(names, p.Name)
			}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}
