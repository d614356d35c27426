package catalogue

import (
	"fmt"
	"strings"
)

// AmiTypes are the images that EKS offers for node groups, with their architecture.
var AmiTypes = map[string]string{
	"AL2_x86_64": "x86_64", "AL2_x86_64_GPU": "x86_64", "AL2_ARM_64": "arm64",
	"AL2023_x86_64_STANDARD": "x86_64", "AL2023_ARM_64_STANDARD": "arm64", "AL2023_x86_64_NEURON": "x86_64",
	"AL2023_x86_64_NVIDIA": "x86_64", "AL2023_ARM_64_NVIDIA": "arm64",
	"BOTTLEROCKET_ARM_64": "arm64", "BOTTLEROCKET_x86_64": "x86_64", "BOTTLEROCKET_ARM_64_FIPS": "arm64", "BOTTLEROCKET_x86_64_FIPS": "x86_64",
	"BOTTLEROCKET_ARM_64_NVIDIA": "arm64", "BOTTLEROCKET_x86_64_NVIDIA": "x86_64",
	"BOTTLEROCKET_ARM_64_NVIDIA_FIPS": "arm64", "BOTTLEROCKET_x86_64_NVIDIA_FIPS": "x86_64",
	"WINDOWS_CORE_2019_x86_64": "x86_64", "WINDOWS_FULL_2019_x86_64": "x86_64", "WINDOWS_CORE_2022_x86_64": "x86_64",
	"WINDOWS_FULL_2022_x86_64": "x86_64", "WINDOWS_CORE_2025_x86_64": "x86_64", "WINDOWS_FULL_2025_x86_64": "x86_64",
}

// ReleasesOf are the AMI versions that EKS knows of a Kubernetes version, the oldest first; the last is the one that it recommends.
func ReleasesOf(minor int) []string {
	built := FirstBuild.AddDate(0, 4*(minor-minMinor)+maxPatch, 0)
	return []string{
		fmt.Sprintf("1.%d.%d-%s", minor, maxPatch/2-1, built.AddDate(0, -1, 0).Format("20060102")),
		fmt.Sprintf("1.%d.%d-%s", minor, maxPatch/2, built.Format("20060102")),
	}
}

// EksImageName returns the name of the image of a type and a release.
func EksImageName(amiType string, minor int, release string) string {
	family, ok := eksImageFamilies[amiType]
	if !ok {
		family = "amazon-eks-node-" + strings.ToLower(amiType)
	}
	_, built, _ := strings.Cut(release, "-")
	return fmt.Sprintf("%s-1.%d-v%s", family, minor, built)
}

// eksImageFamilies are those types that are also published under names of their own.
var eksImageFamilies = map[string]string{
	"AL2_x86_64": "amazon-eks-node", "AL2_ARM_64": "amazon-eks-arm64-node", "AL2_x86_64_GPU": "amazon-eks-gpu-node",
	"AL2023_x86_64_STANDARD": "amazon-eks-node-al2023-x86_64-standard", "AL2023_ARM_64_STANDARD": "amazon-eks-node-al2023-arm64-standard",
	"AL2023_x86_64_NVIDIA": "amazon-eks-node-al2023-x86_64-nvidia",
}

// addEKSReleases adds the images of all releases of a minor version. They are found by ID alone, as those that have been replaced.
func (c *Catalogue) addEKSReleases(region string, minor int) {
	for amiType, arch := range AmiTypes {
		for _, release := range ReleasesOf(minor) {
			name := EksImageName(amiType, minor, release)
			id := ImageID(region, name)
			if c.ByID[id] != nil {
				continue
			}
			kubelet, _, _ := strings.Cut(release, "-")
			c.ByID[id] = &Image{ID: id, Name: name, OwnerID: eksOwner, OwnerAlias: "amazon", Architecture: arch, KubeletVersion: "v" + kubelet,
				Created: FirstBuild}
		}
	}
}
