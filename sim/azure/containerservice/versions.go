package containerservice

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
)

// The minor versions of Kubernetes that AKS offers, the default, and the patches that each has.
const (
	firstMinor, lastMinor, defaultMinor = 30, 36, 34
	lastPatch                           = 7
)

// offered are the versions that are offered, the oldest first.
func offered() []string {
	var out []string
	for minor := firstMinor; minor <= lastMinor; minor++ {
		out = append(out, patches(minor)...)
	}
	return out
}

// patches are the versions of a minor one that are offered, the oldest first.
func patches(minor int) []string {
	out := make([]string, 0, lastPatch+1)
	for patch := range lastPatch + 1 {
		out = append(out, fmt.Sprintf("1.%d.%d", minor, patch))
	}
	return out
}

// resolved returns the full version that a request means, "" for one that is not offered: a minor version means its newest patch, none
// the default.
func resolved(version string) string {
	return managed.Offered(offered(), cmp.Or(version, fmt.Sprintf("1.%d", defaultMinor)))
}

// upgradesFrom are the versions to which one may be upgraded, up to a limit: later patches and the next minor version.
func upgradesFrom(version, limit string) []any {
	out := []any{}
	for _, v := range managed.Upgrades(offered(), version, limit) {
		out = append(out, document.Object{"kubernetesVersion": v})
	}
	return out
}

// checkSkew refuses a version of a pool that the control plane's does not go with.
func checkSkew(version, plane string) error {
	pool, control := managed.Minor(version), managed.Minor(plane)
	why := ""
	switch {
	case pool > control:
		why = fmt.Sprintf("Minor version of node pool version %d is bigger than control plane version %d.", pool, control)
	case managed.CompareVersions(version, plane) > 0:
		why = "Patch version of node pool version is bigger than that of the control plane."
	case pool < control-3:
		why = fmt.Sprintf("Minor version of node pool version %d is more than 3 minor versions lower than control plane version %d.", pool,
			control)
	default:
		return nil
	}
	return refuse(400, "NodePoolMcVersionIncompatible", "Node pool version %s and control plane version %s are incompatible. %s "+
		"For more information, please check https://aka.ms/version-skew-policy", version, plane, why)
}

// checkUpgrade refuses a step that leaves a minor version out, or goes back.
func checkUpgrade(from, to string) error {
	switch {
	case managed.CompareVersions(to, from) < 0:
		return refuse(400, "AgentPoolK8sVersionNotSupported", "Downgrading Kubernetes version from %s to %s is not allowed.", from, to)
	case managed.Minor(to) > managed.Minor(from)+1:
		return refuse(400, "AgentPoolUpgradeVersionNotAllowed", "Upgrading Kubernetes version %s to %s is not allowed. Available upgrades: "+
			"%d.x and %d.x of 1. "+
			"See https://aka.ms/aks-supported-k8s-ver for version details.", from, to, managed.Minor(from), managed.Minor(from)+1)
	}
	return nil
}

// firstImage is the release of node images that there is from the start.
const firstImage = "202609.03.0"

// latest returns the newest release of node images.
func latest(releases *core.Table[releaseRow]) string {
	if r := releases.Get("latest"); r != nil {
		return r.Image
	}
	return firstImage
}

// imageName is the node image of a pool in a release, such as AKSUbuntu-2204gen2containerd-202609.03.0, without what stands before it.
func imageName(p *Pool, release string) string {
	name := "AKSUbuntu-2204gen2containerd"
	switch sku := document.Text(p.Doc, "osSKU"); {
	case sku == "AzureLinux" || sku == "CBLMariner":
		name = "AKSAzureLinux-V3gen2"
	case document.Text(p.Doc, "osType") == "Windows":
		name = "AKSWindows-2022-containerd"
	}
	return name + "-" + release
}

// imageID is the ID of the image in AKS's gallery.
func imageID(image string) string {
	parts := strings.Split(image, "-")
	family, release := parts[0], parts[len(parts)-1]
	definition := strings.Join(parts[1:len(parts)-1], "-")
	return "/subscriptions/109a5e88-712a-48ae-9078-9ca8b3c81345/resourceGroups/" + family + "/providers/Microsoft.Compute/galleries/" +
		family +
		"/images/" + definition + "/versions/" + release
}

// imageOf is the node image version of an image's ID.
func imageOf(id string) string {
	parts := strings.Split(id, "/")
	if len(parts) < 13 {
		return ""
	}
	return parts[8] + "-" + parts[10] + "-" + parts[12]
}
