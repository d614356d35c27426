package launch

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

const (
	// algorithm is the version of the content hash. A new one is added beside this, never in its place: what is in the
	// clouds carries hashes of old ones.
	algorithm = "v1"
	// contentLength and dataLength are in hex digits.
	contentLength = 16
	dataLength    = 12
	// tokenLength is well below the 64 characters that a client token may have.
	tokenLength = 32
)

// outside are the parts of a launch template that are not content: user data has a hash of its own, and tags can be
// taken up by machines that exist, so that neither makes a machine stale.
var outside = map[string]bool{"UserData": true, "TagSpecifications": true}

// contentHash returns the content hash of a launch template, by algorithm v1, over the request that is sent. It depends on no more
// than the fields that are set and their values, so that a new SDK with more fields changes nothing.
func contentHash(data *ec2types.RequestLaunchTemplateData) (string, error) { return hashOf(*data) }

// hashOf is contentHash of a launch template as it is sent, or as it is shown: both have the same names.
func hashOf(data any) (string, error) {
	fields := encodeStruct(reflect.ValueOf(data), outside)
	text, err := json.Marshal(fields)
	if err != nil {
		return "", fmt.Errorf("encode the launch template for its hash: %w", err)
	}
	return algorithm + ":" + cloud.Digest(text, contentLength), nil
}

// clientToken makes a repeated request the same request: it is a function of whom it is for, what is asked, and what was
// there before.
func clientToken(owner string, t pool.Template, predecessor string) string {
	text, _ := json.Marshal([]string{owner, t.Content, t.Data, predecessor})
	return cloud.Digest(text, tokenLength)
}

// encodeStruct gives the fields that are set, by name. Absent fields, nil pointers, empty lists and empty words leave no
// trace.
func encodeStruct(v reflect.Value, without map[string]bool) map[string]any {
	fields := map[string]any{}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() || without[field.Name] {
			continue
		}
		if value, set := encode(v.Field(i)); set {
			fields[field.Name] = value
		}
	}
	return fields
}

func encode(v reflect.Value) (value any, set bool) {
	if at, ok := v.Interface().(time.Time); ok {
		return at.UTC().Format(time.RFC3339), true
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil, false
		}
		value, set = encode(v.Elem())
		if !set && v.Elem().Kind() != reflect.Struct {
			return v.Elem().Interface(), true
		}
		return value, set
	case reflect.Struct:
		fields := encodeStruct(v, nil)
		return fields, len(fields) > 0
	case reflect.Slice:
		list := make([]any, 0, v.Len())
		for i := range v.Len() {
			item, _ := encode(v.Index(i))
			list = append(list, item)
		}
		return list, len(list) > 0
	default:
		return v.Interface(), !v.IsZero()
	}
}

// describe is the description of a launch template version. People read it in the console, and Muster reads the hashes
// and the words from it again.
func describe(t pool.Template, words string) string {
	text := fmt.Sprintf("muster content=%s data=%s", t.Content, t.Data)
	if words = readable(words, descriptionMost-len(text)-1); words != "" {
		text += " " + words
	}
	return text
}

var description = regexp.MustCompile(`^muster content=(v\d+:[0-9a-f]{16}) data=([0-9a-f]{12})(?: |$)`)

// undescribe reads the hashes and the words from a version's description. A version that another client created has none.
func undescribe(text string) (content, data, about string) {
	match := description.FindStringSubmatch(text)
	if match == nil {
		return "", "", ""
	}
	return match[1], match[2], strings.TrimSpace(text[len(match[0]):])
}

// Versions that the ecosystem's provider for AWS has made carry no hashes in their descriptions. They are known by the tags that they put
// on instances, and their content is derived from what they launch: where that is what Muster would send, the hash is the same, and the
// instances are up to date.

// ofProvider returns content and data of a version that the ecosystem's provider has made; both are empty for any other.
func ofProvider(is ec2types.ResponseLaunchTemplateData) (content, data string) {
	if !session.ByProvider(instanceTags(is)) {
		return "", ""
	}
	content, err := hashOf(asSent(is))
	if err != nil {
		return "", ""
	}
	return content, dataOf(is.UserData)
}

// instanceTags are the tags that a version puts on instances.
func instanceTags(is ec2types.ResponseLaunchTemplateData) map[string]string {
	for _, spec := range is.TagSpecifications {
		if spec.ResourceType == ec2types.ResourceTypeInstance {
			return session.TagMap(spec.Tags)
		}
	}
	return nil
}

// asSent returns a version without the values that Muster never sends, because they mean the same as their absence: an empty key name,
// enclaves that are off, a maximum price that is not set, the order of security groups, and whether the metadata options have been applied.
func asSent(is ec2types.ResponseLaunchTemplateData) ec2types.ResponseLaunchTemplateData {
	if ptr.Deref(is.KeyName, "") == "" {
		is.KeyName = nil
	}
	if is.EnclaveOptions != nil && !ptr.Deref(is.EnclaveOptions.Enabled, false) {
		is.EnclaveOptions = nil
	}
	is.SecurityGroupIds = session.Unique(is.SecurityGroupIds)
	if is.MetadataOptions != nil {
		options := *is.MetadataOptions
		options.State = ""
		is.MetadataOptions = &options
	}
	if m := is.InstanceMarketOptions; m != nil && m.SpotOptions != nil && ptr.Deref(m.SpotOptions.MaxPrice, "") == "" {
		market, spot := *m, *m.SpotOptions
		spot.MaxPrice = nil
		market.SpotOptions = &spot
		is.InstanceMarketOptions = &market
	}
	return is
}

// dataOf is the hash of user data, compressed or not; empty if it can't be read.
func dataOf(userData *string) string {
	text, err := base64.StdEncoding.DecodeString(ptr.Deref(userData, ""))
	if err != nil {
		return ""
	}
	if packed, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
		if text, err = io.ReadAll(io.LimitReader(packed, unpackedMost)); err != nil || len(text) == unpackedMost {
			return ""
		}
	}
	return cloud.Digest(text, dataLength)
}

// unpackedMost bounds how much compressed user data is read.
const unpackedMost = 1 << 20
