package compute

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/muster-project/muster/sim/azure/arm"
	"github.com/muster-project/muster/sim/document"
)

// CommunityGallery is where the project that publishes images for Cluster API on Azure has them.
const CommunityGallery = "ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019"

// Image is an image of the subscription's own, or of a gallery of its own, by its resource ID.
type Image struct {
	ID string
	// KubeletVersion is baked into it, with the leading v; "" for one without Kubernetes.
	KubeletVersion string
}

var (
	// communityImage is an ID of a version of an image in a community gallery.
	communityImage = regexp.MustCompile(`(?i)^/CommunityGalleries/([^/]+)/Images/([^/]+)/Versions/([^/]+)$`)
	// dotted is a version of Kubernetes as images have it in their names, dashed as plans and names of offers do.
	dotted = regexp.MustCompile(`\b1\.([0-9]+)\.([0-9]+)\b`)
	dashed = regexp.MustCompile(`1dot([0-9]+)dot([0-9]+)`)
	// packed is a version of Kubernetes as the published marketplace images count: 127.3.20230615 is 1.27.3.
	packed = regexp.MustCompile(`^1([0-9]{2})\.([0-9]+)\.[0-9]+$`)
)

// The minor versions of Kubernetes for which images are published.
const firstMinor, lastMinor = 18, 36

// checkImage refuses an image that is not published.
func (w *models) checkImage(ref document.Object, where string) error {
	if ref == nil {
		return arm.Missing("storageProfile.imageReference")
	}
	own, shared := document.Text(ref, "id"), document.Text(ref, "communityGalleryImageId")
	switch {
	case shared != "":
		m := communityImage.FindStringSubmatch(shared)
		if m == nil {
			return arm.Invalid("imageReference.communityGalleryImageId", "The id '%s' is not valid.", shared)
		}
		if !strings.EqualFold(m[1], CommunityGallery) || !published(kubeletOf(ref)) {
			return arm.Refuse(http.StatusNotFound, "GalleryImageNotFound", "The gallery image %s is not available in %s region. "+
				"Please contact image owner to replicate to this region, or change your requested region.", shared, where)
		}
		return nil
	case own != "":
		if w.imageBy(own) == nil {
			return arm.Refuse(http.StatusNotFound, "NotFound",
				"The platform image or image '%s' is not available. Verify that it exists in subscription and region.", own)
		}
		return nil
	}
	for _, member := range []string{"publisher", "offer", "sku", "version"} {
		if document.Text(ref, member) == "" {
			return arm.Missing("imageReference." + member)
		}
	}
	if strings.HasPrefix(document.Text(ref, "publisher"), "cncf-upstream") && !published(kubeletOf(ref)) {
		return arm.Refuse(http.StatusNotFound, "PlatformImageNotFound",
			"The platform image '%s:%s:%s:%s' is not available. Verify that all fields in the storage profile are correct.",
			document.Text(ref, "publisher"), document.Text(ref, "offer"), document.Text(ref, "sku"), document.Text(ref, "version"))
	}
	return nil
}

// published reports whether there are images with this version of Kubernetes.
func published(version string) bool {
	m := dotted.FindStringSubmatch(strings.TrimPrefix(version, "v"))
	if m == nil {
		return false
	}
	minor, err := strconv.Atoi(m[1])
	return err == nil && minor >= firstMinor && minor <= lastMinor
}

// imageBy finds an image of one's own by its ID, or one whose ID begins so.
func (w *models) imageBy(id string) *Image { return w.images.Get(strings.ToLower(id)) }

// kubelet is the version of Kubernetes in an image, "" for none.
func (w *models) kubelet(ref document.Object) string {
	if i := w.imageBy(document.Text(ref, "id")); i != nil {
		return i.KubeletVersion
	}
	return kubeletOf(ref)
}

// kubeletOf reads the version of Kubernetes from the name of a published image.
func kubeletOf(ref document.Object) string {
	for _, member := range []string{"communityGalleryImageId", "version", "sku", "offer", "id", "sharedGalleryImageId"} {
		s := document.Text(ref, member)
		for _, pattern := range []*regexp.Regexp{dashed, packed, dotted} {
			if m := pattern.FindStringSubmatch(s); m != nil {
				return "v1." + m[1] + "." + m[2]
			}
		}
	}
	return ""
}
