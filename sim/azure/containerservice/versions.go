package containerservice

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/document"
)

// The minor versions of Kubernetes that AKS offers, the default, and the patches that each has.
const (
	firstMinor, lastMinor, defaultMinor = 30, 36, 34
	lastPatch                           = 7
)

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
	parts := strings.Split(cmp.Or(version, fmt.Sprintf("1.%d", defaultMinor)), ".")
	minor := minorOf(strings.Join(parts, "."))
	switch {
	case parts[0] != "1" || minor < firstMinor || minor > lastMinor:
		return ""
	case len(parts) == 2:
		return fmt.Sprintf("1.%d.%d", minor, lastPatch)
	case len(parts) == 3 && slices.Contains(patches(minor), version):
		return version
	}
	return ""
}

// minorOf returns the minor number of a version, -1 for what is none.
func minorOf(version string) int {
	parts := strings.Split(version, ".")
	if len(parts) < 2 {
		return -1
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		return -1
	}
	return n
}

// compare orders two full versions.
func compare(a, b string) int {
	patch := func(v string) int {
		parts := strings.Split(v, ".")
		n, err := strconv.Atoi(parts[len(parts)-1])
		if err != nil {
			return -1
		}
		return n
	}
	return cmp.Or(cmp.Compare(minorOf(a), minorOf(b)), cmp.Compare(patch(a), patch(b)))
}

// upgradesFrom are the versions to which one may be upgraded, up to a limit: later patches and the next minor version.
func upgradesFrom(version, limit string) []any {
	out := []any{}
	for minor := minorOf(version); minor <= min(lastMinor, minorOf(version)+1); minor++ {
		for _, v := range patches(minor) {
			if compare(v, version) > 0 && (limit == "" || compare(v, limit) <= 0) {
				out = append(out, document.Object{"kubernetesVersion": v})
			}
		}
	}
	return out
}

// checkSkew refuses a version of a pool that the control plane's does not go with.
func checkSkew(version, plane string) error {
	pool, control := minorOf(version), minorOf(plane)
	why := ""
	switch {
	case pool > control:
		why = fmt.Sprintf("Minor version of node pool version %d is bigger than control plane version %d.", pool, control)
	case compare(version, plane) > 0:
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
	case compare(to, from) < 0:
		return refuse(400, "AgentPoolK8sVersionNotSupported", "Downgrading Kubernetes version from %s to %s is not allowed.", from, to)
	case minorOf(to) > minorOf(from)+1:
		return refuse(400, "AgentPoolUpgradeVersionNotAllowed", "Upgrading Kubernetes version %s to %s is not allowed. Available upgrades: "+
			"%d.x and %d.x of 1. "+
			"See https://aka.ms/aks-supported-k8s-ver for version details.", from, to, minorOf(from), minorOf(from)+1)
	}
	return nil
}

// firstImage is the release of node images that there is from the start.
const firstImage = "202609.03.0"

// latest is the newest release of node images.
func (w *Service) latest() string {
	if r := w.releases.Get("latest"); r != nil {
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
