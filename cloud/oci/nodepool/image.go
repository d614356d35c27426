package nodepool

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/cache"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/oci/containerengine"
	"github.com/muster-project/muster/cloud/oci/oke"
	"github.com/muster-project/muster/cloud/oci/session"
)

// addSource adds the image and the boot volume of nodes. An image that is not named is looked up once for each version and architecture, so
// that one that Oracle publishes later replaces no node.
func (r *reader) addSource(ctx context.Context, d doc, version string, look *cache.Resolver) error {
	if s := r.t.spec.NodeSourceViaImage; s != nil {
		d[memberVolume] = fields.Number(value(s.BootVolumeSizeInGBs))
	}
	if id := r.t.spec.Image(); id != "" {
		d[memberImage] = id
		return nil
	}
	if version == "" {
		return nil
	}
	kind := kindOf(r.t.spec.NodeShape)
	ask := func(ctx context.Context) (string, error) { return r.t.newestImage(ctx, r.Session, version, kind) }
	if id := presentImage(r.memory.Read.Pool, version, kind); id != "" {
		own := *look
		look, own.Shared = &own, &cache.Lookups{} // other pools have other images
		ask = func(context.Context) (string, error) { return id, nil }
	}
	id, err := look.Resolve(ctx, cache.Question{
		Kind: "image", Inputs: []any{version, kind.arm, kind.gpu}, Good: func(id string) bool { return oke.IsOCID.MatchString(id) },
		Ask: ask,
	})
	if err != nil {
		return cloud.InField(err, rows.SpecOf(memberImage))
	}
	d[memberImage] = id
	return nil
}

// presentImage returns the image of the node pool if it fits: one that was adopted, or whose look-ups were lost, keeps it.
func presentImage(is *containerengine.NodePool, version string, kind machineKind) string {
	if is == nil || is.NodeSourceDetails == nil || text(is.KubernetesVersion) != version || kindOf(text(is.NodeShape)) != kind {
		return ""
	}
	return text(is.NodeSourceDetails.ImageId)
}

// machineKind tells which images a shape can run.
type machineKind struct{ arm, gpu bool }

// ampere matches shapes with processors of the architecture arm64.
var ampere = regexp.MustCompile(`\.Standard\.A\d+\.`)

func kindOf(shape string) machineKind {
	return machineKind{arm: ampere.MatchString(shape + "."), gpu: strings.Contains(shape, ".GPU")}
}

// newestImage returns the newest image of OKE for a version and a kind of machines.
func (t target) newestImage(ctx context.Context, c *session.Session, version string, kind machineKind) (string, error) {
	arch := "X86_64"
	if kind.arm {
		arch = "AARCH64"
	}
	answer, err := c.Engine.GetNodePoolOptions(ctx, containerengine.GetNodePoolOptionsRequest{
		NodePoolOptionId: new("all"), CompartmentId: new(t.at.Compartment()), NodePoolK8sVersion: &version, NodePoolOsArch: &arch})
	if err != nil {
		return "", err
	}
	if id := newest(answer.Body.Sources, version, kind); id != "" {
		return id, nil
	}
	return "", cloud.Invalidf(rows.SpecOf(memberImage),
		"OKE has no image for Kubernetes %s and the shape %s: name one, or ask for another version",
		version, t.spec.NodeShape)
}

// imageName matches the name of an image of OKE: the version of Oracle Linux, the date, the version of Kubernetes and the build, for
// example Oracle-Linux-8.10-aarch64-2025.09.16-0-OKE-1.34.1-1330.
var imageName = regexp.MustCompile(`^Oracle-Linux-(\d+)\.(\d+)-(.*?)-?(\d{4}\.\d{2}\.\d{2})-\d+-OKE-([\d.]+)-(\d+)$`)

// The groups of imageName.
const (
	nameMajor = iota + 1
	nameMinor
	nameKind
	nameDate
	nameVersion
	nameBuild
)

// newest returns the OCID of the newest image for a version and a kind of machines; empty for none.
func newest(sources []containerengine.NodeSourceOption, version string, kind machineKind) (id string) {
	var best []int
	for _, s := range sources {
		name := imageName.FindStringSubmatch(text(s.SourceName))
		if name == nil || name[nameVersion] != strings.TrimPrefix(version, "v") || text(s.ImageId) == "" ||
			strings.Contains(name[nameKind], "aarch64") != kind.arm || strings.Contains(name[nameKind], "GPU") != kind.gpu {
			continue
		}
		age := []int{number(name[nameMajor]), number(name[nameMinor]), number(strings.ReplaceAll(name[nameDate], ".", "")),
			number(name[nameBuild])}
		if slices.Compare(age, best) > 0 {
			id, best = *s.ImageId, age
		}
	}
	return id
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the expression has matched digits
	return n
}
