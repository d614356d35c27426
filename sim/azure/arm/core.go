package arm

import (
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
)

// Settings hold for the whole of a simulated Azure.
type Settings struct {
	// TenantOf returns the directory of a subscription, "" for an unknown one.
	TenantOf func(subscription string) string
}

// Core is shared by the resource providers: the clock, the numbering, and the resources that others refer to. Operations run one at a time.
type Core struct {
	*core.State
	Settings
	// Resources holds the resources that are only read or referred to: groups, networks, identities.
	Resources *core.Table[Resource]
}

// NewCore returns an empty core.
func NewCore(e *core.Environment, s Settings) *Core {
	return &Core{State: core.NewState(e, ""), Settings: s, Resources: core.NewTable[Resource]("resource/")}
}

// Tables returns the tables of the core.
func (w *Core) Tables() core.Tables { return core.Tables{w.Sequences, w.Resources} }

// UUID makes the next ID of a kind.
func (w *Core) UUID(kind string) string { return w.Seed.UUID(kind, w.NextNumber("uuid")) }

// Address returns the next private address of a network.
func (w *Core) Address() string {
	n := w.NextNumber("address") + 3 // the first addresses of a subnet are the service's
	return "10.1." + strconv.Itoa(int(n/250)%250) + "." + strconv.Itoa(int(n%250)+4)
}

// Resource is a resource of no simulated provider: a group, a network, an identity.
type Resource struct {
	ID  string
	Doc document.Object
}

// PutResource creates a resource, or replaces it.
func (w *Core) PutResource(id string, d document.Object) {
	parts := strings.Split(strings.Trim(id, "/"), "/")
	d["id"], d["name"], d["type"] = id, parts[len(parts)-1], KindOf(parts)
	w.Resources.Put(strings.ToLower(id), &Resource{ID: id, Doc: d})
}

// Exists reports whether a resource exists.
func (w *Core) Exists(id string) bool { return w.Resources.Get(strings.ToLower(id)) != nil }

// HasGroup reports whether a resource group exists.
func (w *Core) HasGroup(sub, group string) bool {
	return w.Exists("/subscriptions/" + sub + "/resourceGroups/" + group)
}

// GroupName returns the resource group's name in the case in which it was made.
func (w *Core) GroupName(sub, group string) string {
	if r := w.Resources.Get(strings.ToLower("/subscriptions/" + sub + "/resourceGroups/" + group)); r != nil {
		return document.Text(r.Doc, "name")
	}
	return group
}

// KindOf returns the type of a resource by the parts of its ID, such as Microsoft.Network/virtualNetworks/subnets.
func KindOf(parts []string) string {
	for i, p := range parts {
		if !strings.EqualFold(p, "providers") || i+2 >= len(parts) {
			continue
		}
		kind := parts[i+1]
		for n := i + 2; n < len(parts); n += 2 {
			kind += "/" + parts[n]
		}
		return kind
	}
	return "Microsoft.Resources/resourceGroups"
}

// ResourceID returns the ID of a resource in a group.
func ResourceID(sub, group, kind, name string) string {
	return "/subscriptions/" + sub + "/resourceGroups/" + group + "/providers/" + kind + "/" + name
}

// LastOf returns what follows the last slash.
func LastOf(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

// Stamp returns a time as ARM writes it.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.0000000+00:00") }
