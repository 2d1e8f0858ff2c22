-- Behind a router the sender's title is the router's, and STOW-RS has none: the images' StationName says which scanner it was.
alter table study_series add column station_name text check (length(station_name) between 1 and 64);
comment on column study_series.station_name is 'StationName of its images; ae_title is the sender''s. Null: they do not say.';

-- The scanner with this title or code; null: none is known.
create function known_scanner(name text) returns text
    language sql stable parallel safe
    return coalesce((select scanner from station where ae_title = name), (select code from scanner where code = name));

-- The scanner of images with this StationName from this sender, or of a booking for this sender. Without a known one, the names
-- stand for themselves.
create function scanner_of(station_name text, sender text) returns text
    language sql stable parallel safe
    return coalesce(known_scanner(station_name), known_scanner(sender),
                    case when station_name ~ '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$' then station_name end, sender);
