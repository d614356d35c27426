package containerengine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/managed"
	"github.com/muster-project/muster/sim/oci/catalogue"
	"github.com/muster-project/muster/sim/oci/rest"
)

// versions are those that are offered, the newest first.
var versions = []string{"1.35.2", "1.34.2", "1.34.1", "1.33.1", "1.32.10", "1.32.1", "1.31.10"}

// podShapes are those of the pods of virtual nodes.
var podShapes = []string{"Pod.Standard.A1.Flex", "Pod.Standard.E3.Flex", "Pod.Standard.E4.Flex"}

// image is one that Oracle publishes for nodes of a version of Kubernetes.
type image struct {
	id, name, version, system string
	arm                       bool
}

// images returns those for all versions.
func images(s *Service) []image {
	var out []image
	for _, version := range s.options.Versions {
		for _, one := range []struct{ system, name, arch string }{
			{"OL8", "Oracle-Linux-8.10", ""}, {"OL8", "Oracle-Linux-8.10", "aarch64-"}, {"OL7", "Oracle-Linux-7.9", ""},
		} {
			out = append(out, image{id: s.OCID("image", one.name, one.arch, version), version: version, system: one.system,
				name: fmt.Sprintf("%s-%s2025.09.16-0-OKE-%s-1330", one.name, one.arch, version), arm: one.arch != ""})
		}
	}
	return out
}

// imageByID returns the image of an ID, and whether it is one of Oracle's.
func imageByID(s *Service, id string) (image, bool) {
	all := images(s)
	at := slices.IndexFunc(all, func(i image) bool { return i.id == id })
	if at < 0 {
		return image{}, false
	}
	return all[at], true
}

// Image returns the version of Kubernetes in one of Oracle's images, and whether it is for Arm processors; known is false for another one.
func (s *Service) Image(id string) (version string, arm, known bool) {
	is, known := imageByID(s, id)
	return is.version, is.arm, known
}

func getNodePoolOptions(s *Service, x *rest.Exchange) (rest.Reply, error) {
	offered := s.options.Versions
	if id := x.Vars["nodePoolOptionId"]; id != "all" {
		c := s.Managed.Clusters.Get(id)
		if c == nil {
			return rest.Reply{}, rest.NotFound()
		}
		offered = slices.DeleteFunc(slices.Clone(offered), func(v string) bool { return !fits(c, v) })
	}
	all, err := x.Truth("shouldListAllPatchVersions", true)
	if err != nil {
		return rest.Reply{}, err
	}
	if !all {
		offered = newestOfEach(offered)
	}
	var names, sources, of []any
	for _, i := range images(s) {
		if slices.Contains(offered, i.version) && i.wanted(x) {
			names = append(names, i.name)
			sources = append(sources, document.Object{"sourceType": "IMAGE", "imageId": i.id, "sourceName": i.name})
		}
	}
	for _, v := range offered {
		of = append(of, "v"+v)
	}
	return rest.Shown(document.Object{"images": names, "kubernetesVersions": of, "shapes": document.List(catalogue.ShapeNames()),
		"sources": sources}, ""), nil
}

// wanted reports whether an image fits the filters of a request.
func (i image) wanted(x *rest.Exchange) bool {
	system, arch := x.Query.Get("nodePoolOsType"), x.Query.Get("nodePoolOsArch")
	version := strings.TrimPrefix(x.Query.Get("nodePoolK8sVersion"), "v")
	return (system == "" || i.system == system) && (arch == "" || (arch == "AARCH64") == i.arm) && (version == "" || version == i.version)
}

// newestOfEach returns the first version of each minor version.
func newestOfEach(all []string) []string {
	return slices.CompactFunc(slices.Clone(all), func(a, b string) bool { return managed.Minor(a) == managed.Minor(b) })
}

// fits reports whether nodes of a version can be in a cluster: they are not newer than its control plane, and at most three minor versions
// older.
func fits(c *managed.Cluster, version string) bool {
	const behind = 3
	return managed.CompareVersions(version, c.Version) <= 0 && managed.Minor(c.Version)-managed.Minor(version) <= behind
}

func listPodShapes(s *Service, x *rest.Exchange) (rest.Reply, error) {
	if _, err := x.Compartment(x.Query.Get("compartmentId")); err != nil {
		return rest.Reply{}, err
	}
	var all []document.Object
	for _, name := range podShapes {
		all = append(all, document.Object{"id": name, "name": name, "processorDescription": "2.55 GHz AMD EPYC 7J13"})
	}
	return x.Page(s.State, byName("PodShapeSummary", "name", nil), all)
}
