package account

import (
	"fmt"
	"slices"
)

// Regions are those that can be asked, with the prefix of their zone IDs.
var Regions = map[string]string{
	"eu-west-1": "euw1", "eu-west-2": "euw2", "eu-west-3": "euw3", "eu-central-1": "euc1", "eu-north-1": "eun1",
	"us-east-1": "use1", "us-east-2": "use2", "us-west-1": "usw1", "us-west-2": "usw2",
	"ap-southeast-1": "apse1", "ap-southeast-2": "apse2", "ap-northeast-1": "apne1", "ap-south-1": "aps1", "sa-east-1": "sae1",
}

// zoneLetters are the zones that every simulated region has.
var zoneLetters = []string{"a", "b", "c"}

// ZonesOf returns the zones of a region.
func ZonesOf(region string) []string {
	out := make([]string, len(zoneLetters))
	for i, l := range zoneLetters {
		out[i] = region + l
	}
	return out
}

// ZoneID is the ID that stands for the same place in every account.
func ZoneID(region, zone string) string {
	return fmt.Sprintf("%s-az%d", Regions[region], 1+slices.Index(ZonesOf(region), zone))
}
