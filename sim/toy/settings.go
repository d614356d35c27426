package toy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

// Settings holds the fields of a pool that clients set.
type Settings struct {
	Name        string            `json:"name"`
	Count       int               `json:"count"`
	Version     string            `json:"version"`
	MachineType string            `json:"machineType"`
	Image       string            `json:"image"`
	Zones       []string          `json:"zones"`
	Labels      map[string]string `json:"labels"`
	Taints      []sim.Taint       `json:"taints"`
	Tags        map[string]string `json:"tags"`
	Autoscaling Autoscaling       `json:"autoscaling"`
	Upgrade     Upgrade           `json:"upgrade"`
}

// Autoscaling lets the cloud move the count between two bounds.
type Autoscaling struct {
	Enabled bool `json:"enabled"`
	Min     int  `json:"min"`
	Max     int  `json:"max"`
}

// Upgrade configures how the cloud replaces nodes. Durations are in seconds.
type Upgrade struct {
	MaxSurge       string `json:"maxSurge"`
	MaxUnavailable string `json:"maxUnavailable"`
	DrainTimeout   int    `json:"drainTimeout"`
	Soak           int    `json:"soak"`
}

// MachineType is a type of machines.
type MachineType struct {
	Name         string `json:"name"`
	CPUs         int    `json:"cpus"`
	MemoryMiB    int    `json:"memoryMiB"`
	Pods         int    `json:"pods"`
	Architecture string `json:"architecture"`
}

// types are the types of machines by name.
var types = map[string]MachineType{
	"small": {"small", 2, 4096, 60, "amd64"}, "medium": {"medium", 4, 8192, 110, "amd64"},
	"large": {"large", 8, 16384, 110, "amd64"}, "arm": {"arm", 4, 8192, 110, "arm64"},
}

// Zones returns the zones of the region.
func Zones() []string { return []string{"toyland-a", "toyland-b", "toyland-c"} }

const (
	defaultImage, otherImage = "standard", "hardened"
	mostNodes                = 1000
	// skew is the most minor versions that nodes may be behind their control plane.
	skew = 3
)

var (
	nameOf, share = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,126}[a-z0-9])?$`), regexp.MustCompile(`^[0-9]{1,3}%?$`)
	effects       = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}
	versions      = offered(30, 37)
)

// offered returns the versions of Kubernetes that the cloud offers.
func offered(from, to int) (out []string) {
	for minor := from; minor <= to; minor++ {
		for patch := range 4 {
			out = append(out, fmt.Sprintf("1.%d.%d", minor, patch))
		}
	}
	return out
}

// defaults are the settings of a pool whose request names none.
func defaults(c *managed.Cluster) Settings {
	return Settings{Version: c.Version, Image: defaultImage, Zones: Zones(),
		Upgrade: Upgrade{MaxSurge: "1", MaxUnavailable: "0", DrainTimeout: 1800}}
}

// settingsOf returns the settings of a pool.
func settingsOf(p *managed.Pool) Settings {
	return Settings{
		Name: p.Name, Count: p.Count, Version: p.Version, MachineType: p.Type, Image: p.Image, Zones: p.Zones, Labels: p.Labels,
		Taints: p.Taints, Tags: document.Pairs(p.Doc, "tags"), Autoscaling: Autoscaling{Enabled: p.Autoscaled, Min: p.Min, Max: p.Max},
		Upgrade: Upgrade{MaxSurge: p.Surge, MaxUnavailable: p.Missing, DrainTimeout: int(p.Drain.Limit.Seconds()),
			Soak: int(p.Drain.Soak.Seconds())},
	}
}

// spec returns the settings as package managed has them.
func (s Settings) spec() managed.Spec {
	return managed.Spec{
		Count: s.Count, Autoscaled: s.Autoscaling.Enabled, Min: s.Autoscaling.Min, Max: s.Autoscaling.Max, Version: s.Version,
		Type: s.MachineType, Image: s.Image, Zones: s.Zones, Labels: s.Labels, Taints: s.Taints, Surge: s.Upgrade.MaxSurge,
		Missing: s.Upgrade.MaxUnavailable, Drain: managed.Drain{Limit: time.Duration(s.Upgrade.DrainTimeout) * time.Second,
			Soak: time.Duration(s.Upgrade.Soak) * time.Second},
		Doc: document.Object{"tags": document.OfStrings(s.Tags)},
	}
}

// read decodes a request. Unknown members are refused.
func read(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return refuse(http.StatusBadRequest, "InvalidBody", "The body of the request can't be read: %v", err)
	}
	return nil
}

// change returns settings with those that a request names. A list or a map takes the place of what there is, and 1.35 is the newest patch
// that the control plane allows.
func (s Settings) change(c *managed.Cluster, text []byte) (Settings, error) {
	next := s
	next.Zones, next.Labels, next.Taints, next.Tags = nil, nil, nil, nil
	if err := read(text, &next); err != nil {
		return s, err
	}
	if len(next.Zones) == 0 {
		next.Zones = s.Zones
	}
	if next.Labels == nil {
		next.Labels = s.Labels
	}
	if next.Taints == nil {
		next.Taints = s.Taints
	}
	if next.Tags == nil {
		next.Tags = s.Tags
	}
	if !next.Autoscaling.Enabled {
		next.Autoscaling = Autoscaling{}
	}
	allowed := slices.DeleteFunc(slices.Clone(versions), func(v string) bool { return managed.CompareVersions(v, c.Version) > 0 })
	next.Version = cmp.Or(managed.Offered(allowed, next.Version), next.Version)
	return next, nil
}

// check refuses settings that are not possible; is holds those of the pool that exists.
func (s Settings) check(c *managed.Cluster, is *Settings) error {
	a := s.Autoscaling
	if err := broken([]rule{
		{!nameOf.MatchString(s.Name), "name", fmt.Sprintf("%q can't be the name of a pool.", s.Name)},
		{is != nil && s.Name != is.Name, "name", "The name of a pool can't be changed."},
		{types[s.MachineType].Name == "", "machineType", fmt.Sprintf("There is no machine type %q.", s.MachineType)},
		{s.Image != defaultImage && s.Image != otherImage, "image", fmt.Sprintf("There is no image %q.", s.Image)},
		{!offersZones(s.Zones), "zones", fmt.Sprintf("The zones of %s are %q.", Region, Zones())},
		{is != nil && !slices.Equal(s.Zones, is.Zones), "zones", "The zones of a pool can't be changed."},
		{s.Count < 0 || s.Count > mostNodes, "count", fmt.Sprintf("A pool has 0 to %d nodes, not %d.", mostNodes, s.Count)},
		{a.Enabled && (a.Min < 0 || a.Max < max(1, a.Min) || a.Max > mostNodes), "autoscaling",
			fmt.Sprintf("The bounds %d and %d of the autoscaler are not possible.", a.Min, a.Max)},
		{slices.ContainsFunc(s.Taints, func(t sim.Taint) bool { return t.Key == "" || !slices.Contains(effects, t.Effect) }), "taints",
			fmt.Sprintf("A taint has a key and one of the effects %q.", effects)},
		{!share.MatchString(s.Upgrade.MaxSurge), "upgrade.maxSurge", "A number or a percentage is expected."},
		{!share.MatchString(s.Upgrade.MaxUnavailable), "upgrade.maxUnavailable", "A number or a percentage is expected."},
	}...); err != nil {
		return err
	}
	return s.checkVersion(c, is)
}

// rule is what a request may not say of a field.
type rule struct {
	broken         bool
	field, message string
}

// broken returns the refusal of the first rule that is broken; nil if none is.
func broken(rules ...rule) error {
	for _, r := range rules {
		if r.broken {
			return &Error{Status: http.StatusBadRequest, Code: "InvalidField", Field: r.field, Message: r.message}
		}
	}
	return nil
}

// offersZones reports whether the region has all zones.
func offersZones(zones []string) bool {
	return !slices.ContainsFunc(zones, func(z string) bool { return !slices.Contains(Zones(), z) })
}

// checkVersion refuses a version that is not offered, or to which there is no way.
func (s Settings) checkVersion(c *managed.Cluster, is *Settings) error {
	message := ""
	switch {
	case !slices.Contains(versions, s.Version):
		message = fmt.Sprintf("Version %q is not offered.", s.Version)
	case managed.CompareVersions(s.Version, c.Version) > 0 || managed.Minor(s.Version)+skew < managed.Minor(c.Version):
		message = fmt.Sprintf("Nodes of version %s can't join a control plane of version %s.", s.Version, c.Version)
	case is != nil && s.Version != is.Version && !slices.Contains(managed.Upgrades(versions, is.Version, ""), s.Version):
		message = fmt.Sprintf("A pool of version %s can't be upgraded to %s.", is.Version, s.Version)
	default:
		return nil
	}
	return &Error{Status: http.StatusBadRequest, Code: "InvalidField", Field: "version", Message: message}
}
