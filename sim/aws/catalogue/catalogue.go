// Package catalogue holds what AWS and others publish in every region: images, instance types and the releases of EKS.
package catalogue

import (
	"fmt"
	"sync"
	"time"

	"github.com/muster-project/muster/sim"
)

// Image is a machine image as the simulator knows it.
type Image struct {
	ID, Name, OwnerID string
	// OwnerAlias is the name that AWS gives to well-known owners, such as amazon; empty for others.
	OwnerAlias string
	// Architecture is x86_64 or arm64.
	Architecture string
	// KubeletVersion is the version of the kubelet in the image, with the leading v; empty if it has none.
	KubeletVersion string
	// Created is when it was published.
	Created time.Time
	// Deprecated hides it from the lists of other accounts.
	Deprecated bool
}

const (
	// imageOwner publishes the images of Cluster API, eksOwner those that are optimised for EKS.
	imageOwner = "819546954734"
	eksOwner   = "602401143452"
	// minMinor..MaxMinor and their patches are the Kubernetes releases that images exist for.
	minMinor, maxPatch = 16, 20
	// MaxMinor is the newest minor version that images exist for.
	MaxMinor = 36
)

var (
	// Architectures are those that images are built for.
	Architectures = []string{"x86_64", "arm64"}
	baseSystems   = []string{"ubuntu-24.04", "ubuntu-22.04", "flatcar-stable"}
	// FirstBuild is when the oldest image of the catalogue was built.
	FirstBuild = time.Date(2019, time.September, 18, 12, 0, 0, 0, time.UTC)
)

// Catalogue holds the images and types that AWS and others publish in a region.
type Catalogue struct {
	Images     []*Image
	ByID       map[string]*Image
	Parameters map[string]string
}

var (
	cataloguesMu sync.Mutex
	catalogues   = map[string]*Catalogue{}
)

// Of builds a region's catalogue once: it is the same for every account and every simulator.
func Of(region string) *Catalogue {
	cataloguesMu.Lock()
	defer cataloguesMu.Unlock()
	c, ok := catalogues[region]
	if !ok {
		c = &Catalogue{ByID: map[string]*Image{}, Parameters: map[string]string{}}
		c.addClusterAPI(region)
		c.addEKS(region)
		catalogues[region] = c
	}
	return c
}

func (c *Catalogue) add(i *Image) {
	c.Images = append(c.Images, i)
	c.ByID[i.ID] = i
}

func (c *Catalogue) addClusterAPI(region string) {
	for minor := minMinor; minor <= MaxMinor; minor++ {
		for patch := 0; patch <= maxPatch; patch++ {
			built := FirstBuild.AddDate(0, 4*(minor-minMinor)+patch, patch)
			for _, system := range baseSystems {
				for n, arch := range Architectures {
					at := built.Add(time.Duration(n) * time.Minute)
					name := fmt.Sprintf("capa-ami-%s-v1.%d.%d-%d", system, minor, patch, at.Unix())
					c.add(&Image{
						ID: ImageID(region, name), Name: name, OwnerID: imageOwner, Architecture: arch,
						KubeletVersion: fmt.Sprintf("v1.%d.%d", minor, patch), Created: at,
					})
				}
			}
		}
	}
}

// eksFamilies are the EKS optimised images by the middle of their parameter's name and of their own.
var eksFamilies = []struct{ parameter, image, arch string }{
	{"amazon-linux-2", "amazon-eks-node", "x86_64"},
	{"amazon-linux-2-arm64", "amazon-eks-arm64-node", "arm64"},
	{"amazon-linux-2-gpu", "amazon-eks-gpu-node", "x86_64"},
	{"amazon-linux-2023/x86_64/standard", "amazon-eks-node-al2023-x86_64-standard", "x86_64"},
	{"amazon-linux-2023/arm64/standard", "amazon-eks-node-al2023-arm64-standard", "arm64"},
	{"amazon-linux-2023/x86_64/nvidia", "amazon-eks-node-al2023-x86_64-nvidia", "x86_64"},
}

func (c *Catalogue) addEKS(region string) {
	for minor := minMinor; minor <= MaxMinor; minor++ {
		built := FirstBuild.AddDate(0, 4*(minor-minMinor)+maxPatch, 0)
		release := built.Format("20060102")
		for _, f := range eksFamilies {
			name := fmt.Sprintf("%s-1.%d-v%s", f.image, minor, release)
			i := &Image{
				ID: ImageID(region, name), Name: name, OwnerID: eksOwner, OwnerAlias: "amazon", Architecture: f.arch,
				KubeletVersion: fmt.Sprintf("v1.%d.%d", minor, maxPatch/2), Created: built,
			}
			c.add(i)
			base := fmt.Sprintf("/aws/service/eks/optimized-ami/1.%d/%s/recommended", minor, f.parameter)
			version := fmt.Sprintf("1.%d.%d-%s", minor, maxPatch/2, release)
			c.Parameters[base+"/image_id"] = i.ID
			c.Parameters[base+"/image_name"] = i.Name
			c.Parameters[base+"/release_version"] = version
			c.Parameters[base] = fmt.Sprintf(
				`{"schema_version":"2.0","image_id":%q,"image_name":%q,"release_version":%q}`, i.ID, i.Name, version)
		}
		c.addEKSReleases(region, minor)
	}
}

// ImageID returns the ID of the image of that name in a region.
func ImageID(region, name string) string { return "ami-0" + sim.Seed(0).Hex(16, region, name) }
