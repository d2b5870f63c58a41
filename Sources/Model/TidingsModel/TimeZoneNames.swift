/// The names of the IANA time-zone database that people, phones and backends may say. What else Foundation reads is none: offsets such as `GMT+2`,
/// abbreviations such as `PST`, and names of files.
package enum TimeZoneNames {
    /// - Parameter known: `TimeZone.knownTimeZoneIdentifiers`, which a core cannot read. It has new zones, and leaves out second names.
    package static func has(_ name: String, _ known: [String]) -> Bool {
        Self.second.contains(name) || known.contains(name)
    }

    /// The names of version 2025b that Foundation's list lacks: most of them are another zone's second name, which phones have as well.
    package static let second = Set(
        """
        Africa/Asmera Africa/Timbuktu America/Argentina/ComodRivadavia America/Atka America/Buenos_Aires America/Catamarca
        America/Coral_Harbour America/Cordoba America/Ensenada America/Fort_Wayne America/Indianapolis America/Jujuy America/Knox_IN
        America/Louisville America/Mendoza America/Porto_Acre America/Rosario America/Virgin Asia/Ashkhabad Asia/Chungking Asia/Dacca
        Asia/Istanbul Asia/Kolkata Asia/Macao Asia/Saigon Asia/Tel_Aviv Asia/Thimbu Asia/Ujung_Pandang Asia/Ulan_Bator Atlantic/Faeroe
        Atlantic/Jan_Mayen Australia/ACT Australia/Canberra Australia/LHI Australia/NSW Australia/North Australia/Queensland
        Australia/South Australia/Tasmania Australia/Victoria Australia/West Australia/Yancowinna Brazil/Acre Brazil/DeNoronha Brazil/East
        Brazil/West CET CST6CDT Canada/Atlantic Canada/Central Canada/Eastern Canada/Mountain Canada/Newfoundland Canada/Pacific
        Canada/Saskatchewan Canada/Yukon Chile/Continental Chile/EasterIsland Cuba EET EST EST5EDT Egypt Eire Etc/GMT Etc/GMT+0 Etc/GMT+1
        Etc/GMT+10 Etc/GMT+11 Etc/GMT+12 Etc/GMT+2 Etc/GMT+3 Etc/GMT+4 Etc/GMT+5 Etc/GMT+6 Etc/GMT+7 Etc/GMT+8 Etc/GMT+9 Etc/GMT-0
        Etc/GMT-1 Etc/GMT-10 Etc/GMT-11 Etc/GMT-12 Etc/GMT-13 Etc/GMT-14 Etc/GMT-2 Etc/GMT-3 Etc/GMT-4 Etc/GMT-5 Etc/GMT-6 Etc/GMT-7
        Etc/GMT-8 Etc/GMT-9 Etc/GMT0 Etc/Greenwich Etc/UCT Etc/UTC Etc/Universal Etc/Zulu Europe/Belfast Europe/Nicosia Europe/Tiraspol GB
        GB-Eire GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT Mexico/BajaNorte
        Mexico/BajaSur Mexico/General NZ NZ-CHAT Navajo PRC PST8PDT Pacific/Samoa Pacific/Yap Poland Portugal ROC ROK Singapore Turkey UCT
        US/Alaska US/Aleutian US/Arizona US/Central US/East-Indiana US/Eastern US/Hawaii US/Indiana-Starke US/Michigan US/Mountain
        US/Pacific US/Samoa UTC Universal W-SU WET Zulu
        """.split { $0 == " " || $0 == "\n" }.map(String.init))
}
