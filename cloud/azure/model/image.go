package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
)

const (
	// publicGallery is where the ecosystem publishes images for each Kubernetes version.
	publicGallery = "ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019"
	linuxImage    = "capi-ubun2-2404"
	// windowsImage has a place for the year of Windows Server.
	windowsImage  = "capi-win-%s-containerd"
	windowsServer = "2022"

	// The offers of the Marketplace in which older versions were published.
	oldPublisher    = "cncf-upstream"
	oldLinuxOffer   = "capi"
	oldLinuxSKU     = "ubuntu-2204-gen1"
	oldWindowsOffer = "capi-windows"
	oldWindowsSKU   = "windows-2019-containerd-gen1"

	latestVersion = "latest"
)

var (
	kubernetesVersion = regexp.MustCompile(`^v?(\d+)\.(\d+)\.(\d+)([-+].*)?$`)
	windowsVersion    = regexp.MustCompile(`^(?:windows-)?(\d{4})$`)
)

// Image is what machines boot from: as the specification has it, so that it can be shown in the object's status.
type Image struct{ azurev1.Image }

// Text is an image as an object remembers it. ParseImage reads it again.
func (i Image) Text() (string, error) {
	text, err := json.Marshal(i.Image)
	if err != nil {
		return "", fmt.Errorf("encode the image: %w", err)
	}
	return string(text), nil
}

// ParseImage reads what Text wrote.
func ParseImage(text string) (Image, error) {
	var i Image
	if err := json.Unmarshal([]byte(text), &i.Image); err != nil {
		return Image{}, fmt.Errorf("remembered image %q: %w", text, err)
	}
	if i.kinds() != 1 {
		return Image{}, fmt.Errorf("remembered image %q: want one kind of image, found %d", text, i.kinds())
	}
	return i, nil
}

// IsImage reports whether ParseImage can read a text.
func IsImage(text string) bool {
	_, err := ParseImage(text)
	return err == nil
}

// Named reports whether the specification names the image by itself, so that there is nothing to remember.
func Named(spec *azurev1.AzureMachinePoolSpec) bool { return spec.Template.Image != nil }

// ImageInputs are all that ImageOf depends on, for a memory of what it gave.
func ImageInputs(spec *azurev1.AzureMachinePoolSpec, version, windowsServerVersion string) any {
	return struct {
		Image                   *azurev1.Image `json:",omitempty"`
		OS, Kubernetes, Windows string
	}{spec.Template.Image, osName(spec.Template.OSDisk.OSType), version, windowsServerVersion}
}

// ImageOf is the image that the specification names, or else the one that the ecosystem publishes for the Kubernetes version.
// windowsServerVersion is the year ("2019" or "windows-2019"), empty for the default. What it gives for a version may change with a new
// Muster, so that callers remember it.
func ImageOf(spec *azurev1.AzureMachinePoolSpec, version, windowsServerVersion string) (Image, error) {
	if spec.Template.Image != nil {
		i := Image{*spec.Template.Image.DeepCopy()}
		if n := i.kinds(); n != 1 {
			return Image{}, cloud.Invalidf(fieldImage, "one kind of image is wanted (id, marketplace, sharedGallery or computeGallery), found %d", n)
		}
		return i, nil
	}
	found := kubernetesVersion.FindStringSubmatch(version)
	if found == nil {
		return Image{}, cloud.Invalidf(fieldVersion,
			"no image can be found for Kubernetes version %q: set a version of the form v1.36.3, or set %s", version, fieldImage)
	}
	plain := strings.Join(found[1:4], ".") + found[4]
	if spec.Windows() {
		return windowsImageOf(plain, windowsServerVersion)
	}
	if old, ok := oldLinux[plain]; ok {
		return marketplace(oldLinuxOffer, oldLinuxSKU, oldVersion(found, old)), nil
	}
	return gallery(linuxImage, plain), nil
}

func windowsImageOf(version, server string) (Image, error) {
	year := windowsVersion.FindStringSubmatch(cmp.Or(server, windowsServer))
	if year == nil {
		return Image{}, cloud.Invalidf("annotation windowsServerVersion",
			"%q is no version of Windows Server: want a year, for example windows-2022", server)
	}
	if old, ok := oldWindows[version]; ok && (server == "" || year[1] == "2019") {
		return marketplace(oldWindowsOffer, oldWindowsSKU, oldVersion(kubernetesVersion.FindStringSubmatch(version), old)), nil
	}
	return gallery(fmt.Sprintf(windowsImage, year[1]), version), nil
}

// oldVersion is an image's version in the Marketplace: 1.28.3 of the 23rd October 2023 is 128.3.20231023.
func oldVersion(version []string, published int) string {
	return version[1] + version[2] + "." + version[3] + "." + strconv.Itoa(published)
}

func marketplace(offer, sku, version string) Image {
	return Image{azurev1.Image{Marketplace: &azurev1.AzureMarketplaceImage{
		ImagePlan: azurev1.ImagePlan{Publisher: oldPublisher, Offer: offer, SKU: sku}, Version: version,
	}}}
}

func gallery(name, version string) Image {
	return Image{azurev1.Image{ComputeGallery: &azurev1.AzureComputeGalleryImage{Gallery: publicGallery, Name: name, Version: version}}}
}

// kinds is how many kinds of image are named.
func (i Image) kinds() int {
	n := 0
	for _, named := range []bool{i.ID != nil, i.Marketplace != nil, i.SharedGallery != nil, i.ComputeGallery != nil} {
		if named {
			n++
		}
	}
	return n
}

// reference is the image in Azure's words.
func (i Image) reference() *armcompute.ImageReference {
	switch {
	case i.ID != nil:
		return referenceOf(*i.ID)
	case i.Marketplace != nil:
		m := i.Marketplace
		return &armcompute.ImageReference{Publisher: &m.Publisher, Offer: &m.Offer, SKU: &m.SKU, Version: &m.Version}
	case i.SharedGallery != nil:
		s := i.SharedGallery
		return &armcompute.ImageReference{ID: new(galleryID(s.SubscriptionID, s.ResourceGroup, s.Gallery, s.Name, s.Version))}
	case i.ComputeGallery != nil:
		c := i.ComputeGallery
		if c.SubscriptionID != nil && c.ResourceGroup != nil {
			return &armcompute.ImageReference{ID: new(galleryID(*c.SubscriptionID, *c.ResourceGroup, c.Gallery, c.Name, c.Version))}
		}
		return &armcompute.ImageReference{CommunityGalleryImageID: new("/CommunityGalleries/" + c.Gallery + "/Images/" + c.Name + "/Versions/" +
			c.Version)}
	}
	return nil
}

// The kinds of sources that an image has for Azure, which never changes that of a scale set.
const (
	sourceMarketplace = "Marketplace"
	sourceGallery     = "gallery"
	sourceOwn         = "image of the subscription"
)

// sourceOf returns the kind of source of an image; empty where it is unknown.
func sourceOf(r *armcompute.ImageReference) string {
	switch {
	case r == nil:
		return ""
	case r.CommunityGalleryImageID != nil, r.SharedGalleryImageID != nil,
		r.ID != nil && strings.Contains(strings.ToLower(*r.ID), "/galleries/"):
		return sourceGallery
	case r.ID != nil:
		return sourceOwn
	case r.Publisher != nil:
		return sourceMarketplace
	}
	return ""
}

// ImageStays returns why the scale set keeps the image that it has, for people; empty where it does not.
func (m *Model) ImageStays(cur Current) string {
	want := m.current()
	if !otherSource(want, &cur) {
		return ""
	}
	what, advice := fieldImage, "name an image of that source"
	if !m.namedImage {
		what, advice = "the default image of the Kubernetes version", "name an image of that source in "+fieldImage
	}
	return fmt.Sprintf("%s is of source %s, and the scale set boots from source %s, which Azure never changes: its machines keep the image "+
		"that they have. To have another one, %s, or create another pool", what, sourceOf(want.image()), sourceOf(cur.image()), advice)
}

// referenceOf tells the three kinds of IDs apart.
func referenceOf(id string) *armcompute.ImageReference {
	switch lower := strings.ToLower(id); {
	case strings.HasPrefix(lower, "/communitygalleries/"):
		return &armcompute.ImageReference{CommunityGalleryImageID: &id}
	case strings.HasPrefix(lower, "/sharedgalleries/"):
		return &armcompute.ImageReference{SharedGalleryImageID: &id}
	}
	return &armcompute.ImageReference{ID: &id}
}

// galleryID is the ID of a version of a gallery's image. The latest one is named by no version at all.
func galleryID(subscription, group, gallery, name, version string) string {
	id := "/subscriptions/" + subscription + "/resourceGroups/" + group + "/providers/Microsoft.Compute/galleries/" + gallery +
		"/images/" + name
	if version == latestVersion {
		return id
	}
	return id + "/versions/" + version
}

// plan is the purchase plan of an image that is sold.
func (i Image) plan() *armcompute.Plan {
	switch {
	case i.Marketplace != nil && i.Marketplace.ThirdPartyImage:
		return planOf(i.Marketplace.Publisher, i.Marketplace.Offer, i.Marketplace.SKU)
	case i.SharedGallery != nil && i.SharedGallery.Publisher != nil && i.SharedGallery.Offer != nil && i.SharedGallery.SKU != nil:
		return planOf(*i.SharedGallery.Publisher, *i.SharedGallery.Offer, *i.SharedGallery.SKU)
	case i.ComputeGallery != nil && i.ComputeGallery.Plan != nil:
		return planOf(i.ComputeGallery.Plan.Publisher, i.ComputeGallery.Plan.Offer, i.ComputeGallery.Plan.SKU)
	}
	return nil
}

func planOf(publisher, offer, sku string) *armcompute.Plan {
	return &armcompute.Plan{Publisher: &publisher, Product: &offer, Name: &sku}
}

// oldLinux and oldWindows are the days on which the images of older versions were published, by Kubernetes version. They were
// published in the Marketplace alone, and nothing is added to it any more.
var (
	oldLinux = map[string]int{
		"1.27.14": 20240517, "1.27.15": 20240612, "1.27.16": 20240717,
		"1.28.1": 20230829, "1.28.2": 20230918, "1.28.3": 20231023, "1.28.4": 20231130, "1.28.5": 20240102, "1.28.6": 20240201,
		"1.28.7": 20240223,
		"1.28.8": 20240327, "1.28.9": 20240418, "1.28.10": 20240517, "1.28.11": 20240612, "1.28.12": 20240717,
		"1.29.1": 20240206, "1.29.2": 20240223, "1.29.3": 20240327, "1.29.4": 20240418, "1.29.5": 20240517, "1.29.6": 20240612,
		"1.29.7": 20240717,
		"1.30.0": 20240506, "1.30.1": 20240517, "1.30.2": 20240612, "1.30.3": 20240717,
	}
	oldWindows = map[string]int{
		"1.27.14": 20240515,
		"1.28.1":  20230830, "1.28.2": 20230918, "1.28.3": 20231023, "1.28.4": 20231122, "1.28.5": 20240102, "1.28.6": 20240201,
		"1.28.7": 20240223,
		"1.28.8": 20240327, "1.28.9": 20240418, "1.28.10": 20240515, "1.28.11": 20240612, "1.28.12": 20240717,
		"1.29.1": 20240201, "1.29.2": 20240223, "1.29.3": 20240327, "1.29.4": 20240418, "1.29.5": 20240515, "1.29.6": 20240612,
		"1.29.7": 20240717,
		"1.30.0": 20240418, "1.30.1": 20240515, "1.30.2": 20240612, "1.30.3": 20240717,
	}
)
