package provider

import "net/url"

// A LabelSet has the labels that a host gives to its work, such as user=ann and tenant=acme. It is
// a string, so it costs nothing to pass on and can be compared: equal sets are equal strings. Its
// form is that of the query of a URL, with the keys in order: "tenant=acme&user=ann". Make one with
// [LabelsOf].
type LabelSet string

// LabelsOf returns labels as a LabelSet; "" for none.
func LabelsOf(labels map[string]string) LabelSet {
	q := make(url.Values, len(labels))
	for key, value := range labels {
		q.Set(key, value)
	}
	return LabelSet(q.Encode())
}

// Get returns the value of a label, or "" if there is no such label.
func (s LabelSet) Get(key string) string { return s.Map()[key] }

// Map returns the labels as a new map; nil for none. What can't be read is left out.
func (s LabelSet) Map() map[string]string {
	if s == "" {
		return nil
	}
	q, _ := url.ParseQuery(string(s))
	labels := make(map[string]string, len(q))
	for key := range q {
		labels[key] = q.Get(key)
	}
	return labels
}
