-- Experiments are found by a part of their source's path.

-- Whether a path has one of these parts, byte by byte.
create function has_part(path bytea, parts bytea[]) returns boolean
    language sql immutable parallel safe
    return exists (select from unnest(parts) as p (part) where position(p.part in path) > 0);

-- The index has all bytes that are not ASCII as numbers: paths are bytes, and groups of three letters are made of text. Without the
-- extension, the same search reads all experiments.
do
$$
begin
    create index experiment_source_parts on experiment using gin (encode(source_root, 'escape') gin_trgm_ops);
exception
    when undefined_object then
        raise notice 'pg_trgm cannot be used, so sources are searched one by one: %', sqlerrm;
end
$$;
