package launch

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud"
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

// contentHash is what tells launch templates apart: the hash of what is sent, by algorithm v1. It depends on no more
// than the fields that are set and their values, so that a new SDK with more fields changes nothing.
func contentHash(data *ec2types.RequestLaunchTemplateData) (string, error) {
	fields := encodeStruct(reflect.ValueOf(*data), outside)
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
