package launch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"k8s.io/utils/ptr"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/cloud/cache"
)

// Where the images that the ecosystem publishes are found, unless pool or cluster say otherwise.
const (
	defaultImageFormat = "capa-ami-{{.BaseOS}}-?{{.K8sVersion}}-*"
	defaultImageOrg    = "819546954734"
	defaultImageBaseOS = "ubuntu-24.04"
	fieldVersion       = "MachinePool spec.template.spec.version"
)

// image holds the facts of an image that a launch template needs.
type image struct {
	id, architecture string
	// rootDevice is the name under which the image boots, rootSize the least size of that volume in GiB.
	rootDevice string
	rootSize   int64
}

// text is an image as it is remembered; parseImage reads it again.
func (i image) text() string {
	return strings.Join([]string{i.id, cmp.Or(i.architecture, "-"), cmp.Or(i.rootDevice, "-"), strconv.FormatInt(i.rootSize, 10)}, " ")
}

func parseImage(text string) (image, error) {
	parts := strings.Fields(text)
	if len(parts) != 4 {
		return image{}, fmt.Errorf("remembered image %q: want an ID, an architecture, a device and a size", text)
	}
	size, err := strconv.ParseInt(parts[3], 10, 64)
	if err != nil || size < 0 {
		return image{}, fmt.Errorf("remembered image %q: want a size of 0 GiB or more, found %q", text, parts[3])
	}
	return image{id: parts[0], architecture: unlessNone(parts[1]), rootDevice: unlessNone(parts[2]), rootSize: size}, nil
}

// unlessNone is a remembered word, empty where none was known.
func unlessNone(word string) string {
	if word == "-" {
		return ""
	}
	return word
}

func isImage(text string) bool {
	_, err := parseImage(text)
	return err == nil
}

func imageOf(i ec2types.Image) image {
	found := image{id: ptr.Deref(i.ImageId, ""), architecture: string(i.Architecture), rootDevice: ptr.Deref(i.RootDeviceName, "")}
	for _, m := range i.BlockDeviceMappings {
		if ptr.Deref(m.DeviceName, "") == found.rootDevice && m.Ebs != nil {
			found.rootSize = int64(ptr.Deref(m.Ebs.VolumeSize, 0))
		}
	}
	return found
}

// image finds the pool's image: the one that it names, or one that is published; none where the machines' own service has one.
func (r resolver) image(ctx context.Context, architecture string) (image, error) {
	spec := r.s.Spec
	if id := ptr.Deref(spec.AMI.ID, ""); id != "" {
		if strings.HasPrefix(id, "resolve:") {
			return image{id: id}, nil
		}
		return r.namedImage(ctx, id, architecture)
	}
	if r.s.Managed && !r.s.OwnImage && !spec.NamesImage() {
		return image{}, nil
	}
	return r.publishedImage(ctx, architecture)
}

// publishedImage finds an image for the Kubernetes version: the one that EKS publishes, or the newest by its name.
func (r resolver) publishedImage(ctx context.Context, architecture string) (image, error) {
	spec := r.s.Spec
	if r.s.KubernetesVersion == "" {
		return image{}, cloud.Invalidf(fieldVersion, "no image can be found without a Kubernetes version: set it, or set %s", fieldImage)
	}
	q := imageQuery{
		Format:       cmp.Or(spec.ImageLookupFormat, r.s.Cluster.ImageLookupFormat),
		Org:          cmp.Or(spec.ImageLookupOrg, r.s.Cluster.ImageLookupOrg),
		BaseOS:       cmp.Or(spec.ImageLookupBaseOS, r.s.Cluster.ImageLookupBaseOS),
		Version:      r.s.KubernetesVersion,
		Architecture: cmp.Or(architecture, string(ec2types.ArchitectureTypeX8664)),
	}
	if (r.s.Cluster.EKS || spec.AMI.EKSOptimizedLookupType != nil) && q.Format == "" && q.Org == "" && q.BaseOS == "" {
		return r.eksImage(ctx, q)
	}
	text, err := r.Resolve(ctx, cache.Question{
		Kind: "image", Inputs: q, Good: isImage,
		Ask: func(ctx context.Context) (string, error) { return r.newestImage(ctx, q) },
	})
	if err != nil {
		return image{}, err
	}
	return parseImage(text)
}

// namedImage makes sure that the image that the pool names exists and fits the instance type.
func (r resolver) namedImage(ctx context.Context, id, architecture string) (image, error) {
	text, err := r.Resolve(ctx, cache.Question{Kind: "image", Inputs: id, Good: isImage, Ask: func(ctx context.Context) (string, error) {
		found, err := r.Session.EC2.DescribeImages(ctx, &ec2.DescribeImagesInput{ImageIds: []string{id}})
		if err != nil {
			return "", cloud.InField(session.Refusal(err, r.Now), fieldImage)
		}
		if len(found.Images) == 0 {
			return "", cloud.Invalidf(fieldImage, "no image %s in region %s", id, r.Session.Region)
		}
		return imageOf(found.Images[0]).text(), nil
	}})
	if err != nil {
		return image{}, err
	}
	i, err := parseImage(text)
	if err == nil && architecture != "" && i.architecture != "" && i.architecture != architecture {
		return image{}, cloud.Invalidf(fieldImage, "image %s is made for %s, instance type %s for %s: change one of the two",
			id, i.architecture, r.s.Spec.InstanceType, architecture)
	}
	return i, err
}

// imageQuery is everything that a look-up of an image depends on.
type imageQuery struct {
	Format, Org, BaseOS, Version, Architecture string
	EKS                                        awsv1.EKSAMILookupType `json:",omitempty"`
}

// name is the pattern of the image's name.
func (q imageQuery) name() (string, error) {
	format, err := template.New("name").Option("missingkey=error").Parse(cmp.Or(q.Format, defaultImageFormat))
	var name strings.Builder
	if err == nil {
		err = format.Execute(&name, struct{ BaseOS, K8sVersion string }{
			BaseOS: cmp.Or(q.BaseOS, defaultImageBaseOS), K8sVersion: strings.TrimPrefix(q.Version, "v"),
		})
	}
	if err != nil {
		return "", cloud.Invalidf(fieldImageFormat, "%q is no pattern: %v; {{.BaseOS}} and {{.K8sVersion}} may be used", q.Format, err)
	}
	return name.String(), nil
}

// newestImage asks for the newest image of the name.
func (r resolver) newestImage(ctx context.Context, q imageQuery) (string, error) {
	name, err := q.name()
	if err != nil {
		return "", err
	}
	org := cmp.Or(q.Org, defaultImageOrg)
	pages := ec2.NewDescribeImagesPaginator(r.Session.EC2, &ec2.DescribeImagesInput{Filters: filters(map[string][]string{
		"owner-id":            {org},
		"name":                {name},
		"architecture":        {q.Architecture},
		"state":               {string(ec2types.ImageStateAvailable)},
		"virtualization-type": {string(ec2types.VirtualizationTypeHvm)},
	})})
	found, err := session.Listed(ctx, pages, func(page *ec2.DescribeImagesOutput) []ec2types.Image { return page.Images }, 0, r.Now)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", cloud.Invalidf(Field+".ami",
			"account %s has no image named %s for %s in region %s: set ami.id, or the imageLookup fields, or a Kubernetes version that images are "+
				"published for",
			org, name, q.Architecture, r.Session.Region)
	}
	newest := slices.MaxFunc(found, func(a, b ec2types.Image) int {
		return cmp.Or(cmp.Compare(ptr.Deref(a.CreationDate, ""), ptr.Deref(b.CreationDate, "")),
			cmp.Compare(ptr.Deref(a.ImageId, ""), ptr.Deref(b.ImageId, "")))
	})
	return imageOf(newest).text(), nil
}

// lastAL2Minor is the last minor version of Kubernetes that EKS published Amazon Linux 2 images for.
const lastAL2Minor = 32

// eksImage finds the image that EKS recommends for the version, and then its devices.
func (r resolver) eksImage(ctx context.Context, q imageQuery) (image, error) {
	minor, err := MinorOf(fieldVersion, q.Version)
	if err != nil {
		return image{}, err
	}
	q.EKS = awsv1.AmazonLinux
	if minor > lastAL2Minor {
		q.EKS = awsv1.AmazonLinux2023
	}
	if family := r.s.Spec.AMI.EKSOptimizedLookupType; family != nil {
		q.EKS = *family
	}
	name := eksParameter(q.EKS, minor, q.Architecture)
	id, err := r.Resolve(ctx, cache.Question{Kind: "eksImage", Inputs: q, Good: cache.NotEmpty,
		Ask: func(ctx context.Context) (string, error) {
			found, err := r.Session.SSM.GetParameter(ctx, &ssm.GetParameterInput{Name: &name})
			if err != nil {
				return "", cloud.InField(session.Refusal(err, r.Now), Field+".ami.eksLookupType")
			}
			if found.Parameter == nil || ptr.Deref(found.Parameter.Value, "") == "" {
				return "", cloud.Invalidf(Field+".ami.eksLookupType", "EKS publishes no image under %s", name)
			}
			return *found.Parameter.Value, nil
		}})
	if err != nil {
		return image{}, err
	}
	return r.namedImage(ctx, id, "")
}

// eksParameter is the name under which EKS publishes its images.
func eksParameter(family awsv1.EKSAMILookupType, minor int, architecture string) string {
	arm := architecture == string(ec2types.ArchitectureTypeArm64)
	path := "amazon-linux-2"
	switch {
	case family == awsv1.AmazonLinux2023GPU:
		path = "amazon-linux-2023/x86_64/nvidia"
	case family == awsv1.AmazonLinuxGPU:
		path = "amazon-linux-2-gpu"
	case family == awsv1.AmazonLinux2023 && arm:
		path = "amazon-linux-2023/arm64/standard"
	case family == awsv1.AmazonLinux2023:
		path = "amazon-linux-2023/x86_64/standard"
	case arm:
		path = "amazon-linux-2-arm64"
	}
	return fmt.Sprintf("/aws/service/eks/optimized-ami/1.%d/%s/recommended/image_id", minor, path)
}

// MinorOf returns the minor version of a Kubernetes 1 version, with or without the leading v and a patch. field is the object's field that
// has the version.
func MinorOf(field, version string) (int, error) {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) >= 2 && parts[0] == "1" {
		if minor, err := strconv.Atoi(parts[1]); err == nil {
			return minor, nil
		}
	}
	return 0, InvalidVersion(field, version)
}

// InvalidVersion returns the error of a field whose text is no Kubernetes version.
func InvalidVersion(field, version string) error {
	return cloud.Invalidf(field, "%q is no Kubernetes version of the form v1.36.3", version)
}

// filters are EC2's filters in a fixed order.
func filters(by map[string][]string) []ec2types.Filter {
	list := make([]ec2types.Filter, 0, len(by))
	for _, name := range session.SortedKeys(by) {
		list = append(list, ec2types.Filter{Name: &name, Values: by[name]})
	}
	return list
}
