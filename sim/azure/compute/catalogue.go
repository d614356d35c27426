package compute

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
)

// vmSize is a size of machines and what it can do.
type vmSize struct {
	name, family     string
	cpus             int
	memoryGB         float64
	dataDisks        int
	arch             string
	accelerated      bool
	ephemeral        bool
	hostEncryption   bool
	ultra, trusted   bool
	confidential     bool
	cachedGB, tempGB int
	// elsewhere are the locations that do not offer it, notInZone the zones that do not.
	elsewhere, notInZone []string
}

// sizes are those on offer.
var sizes = allSizes()

func allSizes() []vmSize {
	var out []vmSize
	series := func(pattern, family string, memoryPerCPU float64, change func(*vmSize), cpus ...int) {
		for _, n := range cpus {
			s := vmSize{
				name: fmt.Sprintf(pattern, n), family: family, cpus: n, memoryGB: memoryPerCPU * float64(n), dataDisks: 2 * max(n, 2), arch: "x64",
				accelerated: true, hostEncryption: true, ultra: true, trusted: true, cachedGB: 25 * n, tempGB: 8 * n, ephemeral: true,
			}
			if change != nil {
				change(&s)
			}
			out = append(out, s)
		}
	}
	noTemp := func(s *vmSize) { s.tempGB, s.cachedGB, s.ephemeral = 0, 0, false }
	series("Standard_D%ds_v3", "standardDSv3Family", 4, nil, 2, 4, 8, 16)
	series("Standard_D%ds_v4", "standardDSv4Family", 4, noTemp, 2)
	series("Standard_D%ds_v5", "standardDSv5Family", 4, noTemp, 2, 4, 8)
	series("Standard_D%dds_v5", "standardDDSv5Family", 4, nil, 2)
	series("Standard_D%das_v5", "standardDASv5Family", 4, noTemp, 2)
	series("Standard_D%dps_v5", "standardDPSv5Family", 4, func(s *vmSize) { noTemp(s); s.arch, s.trusted = "Arm64", false }, 2)
	series("Standard_DC%das_v5", "standardDCASv5Family", 4, func(s *vmSize) {
		noTemp(s)
		s.confidential, s.notInZone = true,
			[]string{"3"}
	}, 2, 4)
	series("Standard_E%ds_v3", "standardESv3Family", 8, nil, 2)
	series("Standard_E%ds_v5", "standardESv5Family", 8, noTemp, 2)
	series("Standard_F%ds_v2", "standardFSv2Family", 2, nil, 2)
	series("Standard_NC%ds_v3", "standardNCSv3Family", 18.67, func(s *vmSize) { s.elsewhere = []string{"westus", "northcentralus"} }, 6)
	basic := func(s *vmSize) {
		s.accelerated, s.hostEncryption, s.ultra, s.trusted, s.ephemeral = false, false, false, true, false
	}
	series("Standard_B%ds", "standardBSFamily", 2, basic, 2)
	series("Standard_B%dls_v2", "standardBsv2Family", 1, basic, 1)
	return append(out, vmSize{
		name: "Standard_A1_v2", family: "standardAv2Family", cpus: 1, memoryGB: 2, dataDisks: 2, arch: "x64", tempGB: 10,
	}, vmSize{
		name: "Standard_DS2_v2", family: "standardDSv2Family", cpus: 2, memoryGB: 7, dataDisks: 8, arch: "x64", accelerated: true,
		hostEncryption: true, ephemeral: true, trusted: true, cachedGB: 86, tempGB: 14,
	})
}

func sizeOf(name string) *vmSize {
	for i := range sizes {
		if strings.EqualFold(sizes[i].name, name) {
			return &sizes[i]
		}
	}
	return nil
}

// Differing returns in what hardware two sizes differ that no image serves both of; empty if they do not, or one is unknown.
func Differing(from, to string) string {
	a, b := sizeOf(from), sizeOf(to)
	switch {
	case a == nil || b == nil:
		return ""
	case a.arch != b.arch:
		return "CpuArchitectureType"
	case a.confidential != b.confidential:
		return "ConfidentialComputingType"
	}
	return ""
}

func sizeNames() []string {
	var out []string
	for _, s := range sizes {
		out = append(out, s.name)
	}
	return out
}

// offered reports whether the size is to be had in the location and, where one is named, in the zone.
func (s *vmSize) offered(l *arm.Location, zone string) bool {
	return !slices.Contains(s.elsewhere, l.Name) && (zone == "" || !slices.Contains(s.notInZone, zone))
}

var locationFilter = regexp.MustCompile(`^location eq '([^']*)'$`)

// listSKUs lists the sizes of machines, of one location where the filter names one.
func (w *capacity) listSKUs(x *arm.Call) (*arm.Answer, error) {
	only := ""
	if f := x.Query.Get("$filter"); f != "" {
		m := locationFilter.FindStringSubmatch(f)
		if m == nil {
			return nil, arm.BadRequest("The filter '%s' is not supported. Only location eq '...' is.", f)
		}
		only = m[1]
	}
	out := []any{}
	for _, l := range arm.Locations {
		if only != "" && !arm.SameLocation(only, l.Name) {
			continue
		}
		for i := range sizes {
			out = append(out, sizes[i].show(&l))
		}
		out = append(out, document.Object{"resourceType": "disks", "name": "Premium_LRS", "tier": "Premium", "size": "P",
			"locations": []any{l.Name}, "restrictions": []any{}})
	}
	if only == "" {
		return w.Paged(x, out)
	}
	return arm.OK(document.Object{"value": out}), nil
}

func (s *vmSize) show(l *arm.Location) document.Object {
	capability := func(name string, v any) document.Object {
		shown := fmt.Sprint(v)
		if b, isBool := v.(bool); isBool {
			shown = map[bool]string{true: "True", false: "False"}[b]
		}
		return document.Object{"name": name, "value": shown}
	}
	capabilities := []any{
		capability("MaxResourceVolumeMB", s.tempGB*1024), capability("OSVhdSizeMB", 1047552), capability("vCPUs", s.cpus),
		capability("vCPUsAvailable", s.cpus),
		capability("MemoryGB", s.memoryGB), capability("MaxDataDiskCount", s.dataDisks), capability("CpuArchitectureType", s.arch),
		capability("HyperVGenerations", "V1,V2"), capability("PremiumIO", true), capability("LowPriorityCapable", true),
		capability("AcceleratedNetworkingEnabled", s.accelerated), capability("EphemeralOSDiskSupported", s.ephemeral),
		capability("EncryptionAtHostSupported", s.hostEncryption), capability("CachedDiskBytes", s.cachedGB<<30),
		capability("MaxNetworkInterfaces", max(2, s.cpus/2)),
	}
	if !s.trusted {
		capabilities = append(capabilities, capability("TrustedLaunchDisabled", true))
	}
	if s.confidential {
		capabilities = append(capabilities, capability("ConfidentialComputingType", "SNP"))
	}
	var zones []string
	for _, z := range l.ZoneNames() {
		if s.offered(l, z) {
			zones = append(zones, z)
		}
	}
	info := document.Object{"location": l.Name, "zones": document.List(zones), "zoneDetails": []any{}}
	if s.ultra && len(zones) > 0 {
		info["zoneDetails"] = []any{document.Object{"name": document.List(zones), "capabilities": []any{capability("UltraSSDAvailable", true)}}}
	}
	restrictions := []any{}
	if !s.offered(l, "") {
		restrictions = append(restrictions, document.Object{
			"type": "Location", "values": []any{l.Name}, "restrictionInfo": document.Object{"locations": []any{l.Name}},
			"reasonCode": "NotAvailableForSubscription",
		})
	}
	return document.Object{
		"resourceType": "virtualMachines", "name": s.name, "tier": "Standard", "size": strings.TrimPrefix(s.name, "Standard_"),
		"family":    s.family,
		"locations": []any{l.Name}, "locationInfo": []any{info}, "capabilities": capabilities, "restrictions": restrictions,
	}
}

// listUsage says how many cores are used of how many that may be.
func (w *capacity) listUsage(x *arm.Call) (*arm.Answer, error) {
	where := arm.LocationOf(x.Vars["location"])
	if where == nil {
		return nil, arm.Refuse(http.StatusBadRequest, "NoRegisteredProviderFound", "No registered resource provider found for location '%s'.",
			x.Vars["location"])
	}
	families := []string{"cores"}
	for _, s := range sizes {
		if !slices.Contains(families, s.family) {
			families = append(families, s.family)
		}
	}
	out := []any{}
	for _, f := range families {
		limit := 10000
		if q := w.quotas.Get(where.Name + "/" + strings.ToLower(f)); q != nil {
			limit = q.Limit
		}
		out = append(out, document.Object{"unit": "Count", "currentValue": w.cores(where.Name, f), "limit": limit,
			"name": document.Object{"value": f, "localizedValue": f}})
	}
	return w.Paged(x, out)
}

// checkQuota refuses more cores than the subscription may use.
func (w *capacity) checkQuota(s *scaleSet, d document.Object) error {
	size := sizeOf(document.Text(d, "sku.name"))
	n, _ := document.Number(d, "sku.capacity")
	have := 0
	if s != nil {
		have = len(w.staying(s))
	}
	more := (n - have) * size.cpus
	if more <= 0 {
		return nil
	}
	where := arm.LocationOf(document.Text(d, "location")).Name
	for _, family := range []string{"cores", size.family} {
		q := w.quotas.Get(where + "/" + strings.ToLower(family))
		if q == nil {
			continue
		}
		if used := w.cores(where, family); used+more > q.Limit {
			return w.exceeded(family, where, q.Limit, used, more)
		}
	}
	return nil
}

func (w *capacity) exceeded(family, where string, limit, used, more int) *arm.Error {
	name := family
	if family == "cores" {
		name = "Total Regional"
	}
	return arm.NotAllowed("Operation could not be completed as it results in exceeding approved %s Cores quota. Additional details - "+
		"Deployment Model: "+
		"Resource Manager, Location: %s, Current Limit: %d, Current Usage: %d, Additional Required: %d, (Minimum) New Limit Required: %d. "+
		"Setup Alerts when Quota reaches threshold.", name, where, limit, used, more, used+more)
}

// cores is how many cores of a family, or in all, are used in a location.
func (w *capacity) cores(where, family string) int {
	n := 0
	for _, m := range w.machines.All() {
		size := sizeOf(m.Type)
		if size != nil && arm.SameLocation(m.Location, where) && m.Power != powerDeallocated &&
			(family == "cores" || strings.EqualFold(family, size.family)) {
			n += size.cpus
		}
	}
	return n
}
