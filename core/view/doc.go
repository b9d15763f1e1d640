// Package view turns tables and reports into what a person sees: plain values without markup.
//
// [State] is everything a person can set. URL fragment, query string, command flags and saved settings are
// encodings of it. A [Page] is everything a person sees for one State: shell, alerts, the body of one tab,
// numbers with stable names. The web package writes Pages as HTML, in the browser and on the server alike.
//
// Values are ready to show: numbers are texts with their exact form beside them, slices are never nil,
// a missing value is a dash with its reason.
package view
