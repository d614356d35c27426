package catalogue

import (
	"strings"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
)

// minors are the minor versions of Kubernetes that there are images of.
var minors = []string{"31", "32", "33", "34", "35"}

// SeedProject creates what a project has from the start: the default network and the images of Cluster API.
func (w *Service) SeedProject(id string) {
	w.PutNetwork(id, "default")
	for _, minor := range minors {
		for _, build := range []string{"ubuntu-1804", "ubuntu-2204", "ubuntu-2404"} {
			w.PutImage(id, "cluster-api-"+build+"-v1-"+minor+"-1-1760000000", "capi-"+build+"-k8s-v1-"+minor, "X86_64")
		}
		w.PutImage(id, "cluster-api-ubuntu-2404-arm64-v1-"+minor+"-1-1760000000", "capi-ubuntu-2404-arm64-k8s-v1-"+minor, "ARM64")
	}
}

// PutNetwork creates a network with a subnetwork of its name in each region.
func (w *Service) PutNetwork(id, name string) {
	path := project.Global(id, "networks", name)
	w.Put(path, document.Object{"kind": "compute#network", "autoCreateSubnetworks": true, "mtu": 1460})
	for _, r := range project.Regions {
		w.PutSubnetwork(id, r.Name, name, name)
	}
}

// PutSubnetwork creates a subnetwork of a network.
func (w *Service) PutSubnetwork(id, region, network, name string) {
	w.Put(project.Regional(id, region, "subnetworks", name), document.Object{
		"kind": "compute#subnetwork", "network": project.Global(id, "networks", network), "region": "projects/" + id + "/regions/" + region,
		"ipCidrRange": "10.128.0.0/20", "purpose": "PRIVATE", "stackType": "IPV4_ONLY",
	})
}

// PutImage creates an image of a family.
func (w *Service) PutImage(id, name, family, architecture string) {
	w.Put(project.Global(id, "images", name), document.Object{
		"kind": "compute#image", "family": family, "architecture": architecture, "status": "READY", "sourceType": "RAW", "diskSizeGb": "20",
		"description": "Cluster API image " + strings.TrimPrefix(name, "cluster-api-"),
	})
}

// Put creates a resource, and returns it; one that exists stays as it is.
func (w *Service) Put(path string, d document.Object) *Resource {
	if r := w.Resources.Get(path); r != nil {
		return r
	}
	r := &Resource{Path: path, ID: w.core.NewID(), Created: w.core.Now, Doc: d}
	w.Resources.Put(path, r)
	return r
}
