package aws

import (
	"fmt"
	"path"
	"strconv"
	"strings"
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
	// KubeletVersion is what a machine of this image runs, with the leading v; empty when it holds none.
	KubeletVersion string
	// Created is when it was published.
	Created time.Time
	// Deprecated hides it from lists of those who do not own it.
	Deprecated bool
}

const (
	// imageOwner publishes the images of Cluster API, eksOwner those that are optimised for EKS.
	imageOwner = "819546954734"
	eksOwner   = "602401143452"
	// minMinor..maxMinor and their patches are the Kubernetes releases that images exist for.
	minMinor, maxMinor, maxPatch = 16, 36, 20
)

var (
	architectures = []string{"x86_64", "arm64"}
	baseSystems   = []string{"ubuntu-24.04", "ubuntu-22.04", "flatcar-stable"}
	// firstBuild is when the oldest image of the catalogue was built.
	firstBuild = time.Date(2019, time.September, 18, 12, 0, 0, 0, time.UTC)
)

// catalogue is what AWS and others publish in a region.
type catalogue struct {
	images     []*Image
	byID       map[string]*Image
	parameters map[string]string
}

var (
	cataloguesMu sync.Mutex
	catalogues   = map[string]*catalogue{}
)

// catalogueOf builds a region's catalogue once: it is the same for every account and every simulator.
func catalogueOf(region string) *catalogue {
	cataloguesMu.Lock()
	defer cataloguesMu.Unlock()
	c, ok := catalogues[region]
	if !ok {
		c = &catalogue{byID: map[string]*Image{}, parameters: map[string]string{}}
		c.addClusterAPI(region)
		c.addEKS(region)
		catalogues[region] = c
	}
	return c
}

func (c *catalogue) add(i *Image) {
	c.images = append(c.images, i)
	c.byID[i.ID] = i
}

func (c *catalogue) addClusterAPI(region string) {
	for minor := minMinor; minor <= maxMinor; minor++ {
		for patch := 0; patch <= maxPatch; patch++ {
			built := firstBuild.AddDate(0, 4*(minor-minMinor)+patch, patch)
			for _, system := range baseSystems {
				for n, arch := range architectures {
					at := built.Add(time.Duration(n) * time.Minute)
					name := fmt.Sprintf("capa-ami-%s-v1.%d.%d-%d", system, minor, patch, at.Unix())
					c.add(&Image{
						ID: imageID(region, name), Name: name, OwnerID: imageOwner, Architecture: arch,
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

func (c *catalogue) addEKS(region string) {
	for minor := minMinor; minor <= maxMinor; minor++ {
		built := firstBuild.AddDate(0, 4*(minor-minMinor)+maxPatch, 0)
		release := built.Format("20060102")
		for _, f := range eksFamilies {
			name := fmt.Sprintf("%s-1.%d-v%s", f.image, minor, release)
			i := &Image{
				ID: imageID(region, name), Name: name, OwnerID: eksOwner, OwnerAlias: "amazon", Architecture: f.arch,
				KubeletVersion: fmt.Sprintf("v1.%d.%d", minor, maxPatch/2), Created: built,
			}
			c.add(i)
			base := fmt.Sprintf("/aws/service/eks/optimized-ami/1.%d/%s/recommended", minor, f.parameter)
			version := fmt.Sprintf("1.%d.%d-%s", minor, maxPatch/2, release)
			c.parameters[base+"/image_id"] = i.ID
			c.parameters[base+"/image_name"] = i.Name
			c.parameters[base+"/release_version"] = version
			c.parameters[base] = fmt.Sprintf(
				`{"schema_version":"2.0","image_id":%q,"image_name":%q,"release_version":%q}`, i.ID, i.Name, version)
		}
		c.addEKSReleases(region, minor)
	}
}

func imageID(region, name string) string { return "ami-0" + sim.Seed(0).Hex(16, region, name) }

// instanceType is a size of machine.
type instanceType struct {
	name         string
	cpus         int
	memoryMiB    int
	architecture string
	gpus         int
	burstable    bool
}

// instanceTypes are the types that every region offers, by name.
var instanceTypes = buildInstanceTypes()

// families are the general families with their sizes: virtual CPUs by size, and MiB of memory for each of them.
var families = []struct {
	names  []string
	sizes  map[string]int
	perCPU int
}{
	{[]string{"m5", "m5a", "m6i", "m7i"}, serverSizes, 4096},
	{[]string{"c5", "c5a", "c6i", "c7i"}, serverSizes, 2048},
	{[]string{"r5", "r5a", "r6i"}, serverSizes, 8192},
	{[]string{"m6g", "m7g"}, armSizes, 4096},
	{[]string{"c6g", "c7g"}, armSizes, 2048},
	{[]string{"r6g", "r7g"}, armSizes, 8192},
	{[]string{"g4dn"}, map[string]int{"xlarge": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32, "12xlarge": 48, "16xlarge": 64}, 4096},
}

var (
	serverSizes = map[string]int{
		"large": 2, "xlarge": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32, "12xlarge": 48, "16xlarge": 64, "24xlarge": 96,
	}
	armSizes = map[string]int{
		"medium": 1, "large": 2, "xlarge": 4, "2xlarge": 8, "4xlarge": 16, "8xlarge": 32, "12xlarge": 48, "16xlarge": 64,
	}
	// burstableSizes are virtual CPUs and MiB of memory.
	burstableSizes = map[string][2]int{
		"nano": {2, 512}, "micro": {2, 1024}, "small": {2, 2048}, "medium": {2, 4096}, "large": {2, 8192}, "xlarge": {4, 16384}, "2xlarge": {8, 32768},
	}
)

func buildInstanceTypes() map[string]instanceType {
	out := map[string]instanceType{}
	for _, f := range families {
		for _, family := range f.names {
			for size, cpus := range f.sizes {
				name := family + "." + size
				out[name] = instanceType{name: name, cpus: cpus, memoryMiB: cpus * f.perCPU, architecture: architectureOf(family), gpus: gpusOf(name)}
			}
		}
	}
	for _, family := range []string{"t3", "t3a", "t4g"} {
		for size, v := range burstableSizes {
			name := family + "." + size
			out[name] = instanceType{name: name, cpus: v[0], memoryMiB: v[1], architecture: architectureOf(family), burstable: true}
		}
	}
	return out
}

// architectureOf tells the ARM families by the g behind their generation.
func architectureOf(family string) string {
	if strings.HasSuffix(family, "g") {
		return "arm64"
	}
	return "x86_64"
}

func gpusOf(name string) int {
	switch {
	case name == "g4dn.12xlarge":
		return 4
	case strings.HasPrefix(name, "g4dn."):
		return 1
	}
	return 0
}

// glob matches AWS's patterns: * for any text and ? for one character. path.Match would let neither cross a slash.
func glob(pattern, s string) bool {
	if !strings.ContainsAny(pattern, "*?") {
		return pattern == s
	}
	ok, err := path.Match(slashless.Replace(pattern), strings.ReplaceAll(s, "/", slash))
	return err == nil && ok
}

// slash stands for the one character that a pattern of package path treats apart and one of AWS does not; slashless puts
// it in place, and lets brackets be brackets, be they escaped or not.
const slash = "\x00"

var slashless = strings.NewReplacer(`\\`, `\\`, `\[`, `\[`, "/", slash, "[", `\[`)

// itoa spells a number of any integer type.
func itoa[N ~int | ~int32 | ~int64](n N) string { return strconv.FormatInt(int64(n), 10) }
